//! Percale: cloth that does not go through itself or anything else, with proof.
//!
//! ```text
//! Verified ──propose──▶ Candidate ──repel──▶ Candidate ──respond──▶ Candidate ──accept──▶ Verified
//! (start)   dynamics      x(1)      response              stages                 verify
//! ```

pub mod error;
pub mod geometry;
pub mod scene;
pub mod untangle;
pub mod verify;

#[cfg(test)]
mod oracle;
