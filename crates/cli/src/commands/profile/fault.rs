//! How the library's errors are said.

use std::io;

use hermes_config::{DistributionError, ProfileError, WrapperError};
use hermes_core::{Failure, FailureKind};

use crate::complaint::Complaint;

impl From<ProfileError> for Complaint {
    fn from(error: ProfileError) -> Self {
        let failure = Failure::new(kind(&error), error.to_string()).hint(error.hint());
        Self::Failed(failure.because(error))
    }
}

fn kind(error: &ProfileError) -> FailureKind {
    match error {
        ProfileError::Name(_)
        | ProfileError::Default { .. }
        | ProfileError::Wrapper(WrapperError::Reserved { .. }) => FailureKind::BadRequest,
        ProfileError::Missing { .. }
        | ProfileError::Wrapper(WrapperError::Missing { .. })
        | ProfileError::Distribution(
            DistributionError::NoManifest { .. }
            | DistributionError::NotInstalled { .. }
            | DistributionError::NoSource { .. },
        ) => FailureKind::NotFound,
        ProfileError::Exists { .. }
        | ProfileError::GatewayRunning { .. }
        | ProfileError::NotAnArchive { .. }
        | ProfileError::Wrapper(
            WrapperError::NoPlace
            | WrapperError::Taken { .. }
            | WrapperError::Hides { .. }
            | WrapperError::Unwritable { .. },
        ) => FailureKind::Refused,
        ProfileError::Disk { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            FailureKind::Exhausted
        }
        ProfileError::Disk { .. } | ProfileError::File(_) => FailureKind::Unavailable,
        ProfileError::Yaml { .. }
        | ProfileError::Archive(_)
        | ProfileError::Distribution(
            DistributionError::Field { .. }
            | DistributionError::BadPath { .. }
            | DistributionError::Link { .. }
            | DistributionError::Special { .. }
            | DistributionError::TooLarge
            | DistributionError::Name(_),
        ) => FailureKind::BadInput,
    }
}
