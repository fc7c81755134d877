//! `profile_routes`: which chats belong to which profile.

use crate::macros::section;

section! {
    /// Chats that belong to a profile; the route that names most counts.
    pub struct ProfileRoute {
        /// Name of the route.
        name: String = String::new();
        /// Platform.
        platform: String = String::new();
        /// Server or workspace on it; any when empty.
        guild_id: String = String::new();
        /// Chat; any when empty.
        chat_id: String = String::new();
        /// Thread of the chat; any when empty.
        thread_id: String = String::new();
        /// The profile.
        profile: String = String::new();
        /// Uses the route.
        enabled: bool = true;
    }
}
