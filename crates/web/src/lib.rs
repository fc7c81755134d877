//! The web for the agent: pages read as text.
//!
//! | module | holds |
//! |---|---|
//! | `page` | fetching a page, within the user's rules |
//! | `sites` | the sites the user does not want visited |
//! | `text` | what a page says, without its markup |

mod page;
mod sites;
mod text;

pub use page::{PageError, PageReader};
pub use sites::Sites;
