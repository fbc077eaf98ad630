//! What may be believed: the auditor, which shares no code with the tests that it judges.

pub mod audit;
