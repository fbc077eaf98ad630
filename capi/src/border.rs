//! The border: what comes in, what goes out, what is refused.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use percale::DVec3;
use percale::error::{StartError, StepError};
use percale::plain::CallError;
use percale::record::{ResultError, RunError};
use percale::scene::SceneError;

/// Codes of `percale.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    BadArgument = 1,
    BadMesh = 2,
    BadScene = 3,
    Tangled = 4,
    NoWay = 5,
    BadResult = 6,
    Busy = 7,
    Bug = 8,
}

/// A code and a text.
pub(crate) struct Refusal(Status, String);

impl Refusal {
    pub(crate) fn argument(message: String) -> Self {
        Self(Status::BadArgument, message)
    }
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Self {
        let status = match &error {
            CallError::Mesh { .. } => Status::BadMesh,
            CallError::Start { .. } => Status::Tangled,
            CallError::Step(_) => Status::NoWay,
            _ => Status::BadArgument,
        };
        Self(status, in_words_of_c(&error.to_string()))
    }
}

/// Arguments as `percale.h` has them: the shared calls have names of Python.
fn in_words_of_c(message: &str) -> String {
    let names = [
        ("F: ", "faces: "),
        ("V: ", "positions: "),
        ("V0: ", "start: "),
        ("V1: ", "end: "),
    ];
    let known = names.iter().find_map(|(theirs, ours)| {
        let rest = message.strip_prefix(theirs)?;
        Some(format!("{ours}{rest}"))
    });
    known.unwrap_or_else(|| message.into())
}

impl From<SceneError> for Refusal {
    fn from(error: SceneError) -> Self {
        let status = match &error {
            SceneError::Start(_) | SceneError::Tangled(_) => Status::Tangled,
            _ => Status::BadScene,
        };
        Self(status, error.to_string())
    }
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        Self(Status::Tangled, error.to_string())
    }
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Self {
        Self(Status::NoWay, error.to_string())
    }
}

impl From<ResultError> for Refusal {
    fn from(error: ResultError) -> Self {
        Self(Status::BadResult, error.to_string())
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        let message = (error.to_string())
            .replace("--resume", "PERCALE_RESUME")
            .replace("--force", "PERCALE_REPLACE");
        Self(Status::BadArgument, format!("folder: {message}"))
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self(Status::Bug, error.to_string())
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

pub(crate) fn last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|text| text.as_ptr())
}

/// Does the work of a call; a panic is a status too.
pub(crate) fn call(work: impl FnOnce() -> Result<(), Refusal>) -> Status {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no more is known");
        Err(Refusal(
            Status::Bug,
            format!("a bug, please report it: {text}"),
        ))
    });
    let (status, message) = match done {
        Ok(()) => (Status::Ok, String::new()),
        Err(Refusal(status, message)) => (status, message),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    LAST_ERROR.replace(message);
    status
}

/// Things that C knows by number; a number is never used twice.
pub(crate) struct Handles<T>(Mutex<Kept<T>>);

struct Kept<T> {
    last: u64,
    all: BTreeMap<u64, Arc<Mutex<T>>>,
}

impl<T> Handles<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Kept {
            last: 0,
            all: BTreeMap::new(),
        }))
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keep(&self, thing: T) -> u64 {
        let mut kept = self.kept();
        kept.last += 1;
        let handle = kept.last;
        kept.all.insert(handle, Arc::new(Mutex::new(thing)));
        handle
    }

    pub(crate) fn drop(&self, handle: u64, name: &str) -> Result<(), Refusal> {
        let freed = self.kept().all.remove(&handle);
        freed.map(drop).ok_or_else(|| unknown(handle, name))
    }

    pub(crate) fn with(
        &self,
        handle: u64,
        name: &str,
        work: impl FnOnce(&mut T) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let thing = self.kept().all.get(&handle).cloned();
        let thing = thing.ok_or_else(|| unknown(handle, name))?;
        let mut thing = match thing.try_lock() {
            Ok(thing) => thing,
            Err(TryLockError::Poisoned(_)) => {
                let message = format!(
                    "{name}: an earlier call has failed by a bug; free it and make another"
                );
                return Err(Refusal(Status::Bug, message));
            }
            Err(TryLockError::WouldBlock) => {
                let message =
                    format!("{name}: another thread is using it; wait for that call to return");
                return Err(Refusal(Status::Busy, message));
            }
        };
        work(&mut thing)
    }
}

fn unknown(handle: u64, name: &str) -> Refusal {
    Refusal::argument(format!("{name}: {handle} was never made, or is freed"))
}

/// What calls have made and nobody has freed yet.
static MADE: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

/// Alignment of everything that is made: that of the largest plain type.
const ALIGNMENT: usize = 16;

/// A copy that C has to free.
pub(crate) fn give_bytes(bytes: &[u8]) -> *mut u8 {
    let layout = Layout::from_size_align(bytes.len().max(1), ALIGNMENT);
    let layout = layout.expect("what is in memory has a size");
    // SAFETY: the layout has a size
    let place = unsafe { alloc(layout) };
    if place.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the place is new and large enough
    unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.insert(place as usize, layout);
    place
}

/// A list of plain values without padding that C has to free.
pub(crate) fn give_list<T: Copy>(list: &[T]) -> *mut T {
    const { assert!(align_of::<T>() <= ALIGNMENT) };
    // SAFETY: the bytes of plain values are copied, not looked at
    let bytes =
        unsafe { std::slice::from_raw_parts(list.as_ptr().cast::<u8>(), size_of_val(list)) };
    give_bytes(bytes).cast()
}

/// A text that C has to free.
pub(crate) fn give_text(text: &str) -> *mut c_char {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    give_bytes(text.as_bytes_with_nul()).cast()
}

/// Frees what was given, once.
pub(crate) fn release(made: *mut u8) {
    let layout = {
        let mut all = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&(made as usize))
    };
    if let Some(layout) = layout {
        // SAFETY: it was allocated with this layout, and is no longer listed
        unsafe { dealloc(made, layout) };
    }
}

/// Where a result goes; nothing is read there.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    pub(crate) fn set(&self, value: T) {
        // SAFETY: whoever made it has promised that it can be written
        unsafe { self.0.write(value) };
    }
}

impl Out<f64> {
    /// Writes vectors from here on.
    ///
    /// # Safety
    /// There is room for them.
    pub(crate) unsafe fn set_vectors(&self, vectors: &[DVec3]) {
        // SAFETY: by the caller's promise; what is written is ours, so nothing overlaps
        unsafe {
            let place = self.0.cast::<DVec3>();
            place.copy_from_nonoverlapping(vectors.as_ptr(), vectors.len());
        };
    }
}

impl Out<u32> {
    /// Writes faces from here on.
    ///
    /// # Safety
    /// There is room for them.
    pub(crate) unsafe fn set_faces(&self, faces: &[[u32; 3]]) {
        let all = faces.as_flattened();
        // SAFETY: by the caller's promise; what is written is ours, so nothing overlaps
        unsafe { self.0.copy_from_nonoverlapping(all.as_ptr(), all.len()) };
    }
}

/// A place that a result needs.
///
/// # Safety
/// The place is null or can be written.
pub(crate) unsafe fn out<T>(name: &str, place: *mut T) -> Result<Out<T>, Refusal> {
    if place.is_null() || !place.is_aligned() {
        return Err(Refusal::argument(format!(
            "{name}: it is NULL, or not aligned"
        )));
    }
    Ok(Out(place))
}

/// A place for what not everybody wants.
///
/// # Safety
/// The place is null or can be written.
pub(crate) unsafe fn wanted<T>(name: &str, place: *mut T) -> Result<Option<Out<T>>, Refusal> {
    match place.is_null() {
        true => Ok(None),
        // SAFETY: by the caller's promise
        false => unsafe { out(name, place) }.map(Some),
    }
}

/// Values that C has; none of them if there are to be none.
///
/// # Safety
/// The place is null or holds as many values.
pub(crate) unsafe fn list<T: Copy>(
    name: &str,
    place: *const T,
    count: usize,
) -> Result<Vec<T>, Refusal> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if place.is_null() || !place.is_aligned() {
        return Err(Refusal::argument(format!(
            "{name}: it is NULL, or not aligned"
        )));
    }
    if count
        .checked_mul(size_of::<T>())
        .is_none_or(|bytes| bytes > isize::MAX as usize)
    {
        return Err(Refusal::argument(format!(
            "{name}: {count} are more than any memory holds"
        )));
    }
    // SAFETY: by the caller's promise, and checked as far as can be
    Ok(unsafe { std::slice::from_raw_parts(place, count) }.to_vec())
}

/// Positions, copied once.
///
/// # Safety
/// The place is null or holds three times as many numbers.
pub(crate) unsafe fn vectors(
    name: &str,
    place: *const f64,
    count: usize,
) -> Result<Vec<DVec3>, Refusal> {
    const { assert!(size_of::<DVec3>() == 24 && align_of::<DVec3>() == align_of::<f64>()) };
    // SAFETY: a DVec3 is three numbers
    unsafe { list(name, place.cast::<DVec3>(), count) }
}

/// Faces.
///
/// # Safety
/// The place is null or holds three times as many numbers.
pub(crate) unsafe fn given(
    name: &str,
    place: *const u32,
    count: usize,
) -> Result<Vec<[u32; 3]>, Refusal> {
    // SAFETY: three numbers each
    unsafe { list(name, place.cast::<[u32; 3]>(), count) }
}

/// A text of C.
///
/// # Safety
/// The place is null or a text that ends with a 0.
pub(crate) unsafe fn text<'a>(name: &str, place: *const c_char) -> Result<&'a str, Refusal> {
    if place.is_null() {
        return Err(Refusal::argument(format!("{name}: it is NULL")));
    }
    // SAFETY: by the caller's promise
    let text = unsafe { CStr::from_ptr(place) };
    text.to_str()
        .map_err(|_| Refusal::argument(format!("{name}: it is not UTF-8")))
}
