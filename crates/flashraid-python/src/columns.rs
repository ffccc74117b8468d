//! The caller's own requests, given as columns. These may be an object with the Arrow PyCapsule interface, or a mapping of columns, buffers
//! (NumPy) and lists. They are read once, before the run.

#![expect(unsafe_code, reason = "columns come through the C interface of Arrow")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatchReader, StructArray, make_array};
use arrow_schema::DataType;
use flashraid::model::events::TIME_MAX_NS;
use flashraid::workload::trace::{MAX_OFFSET_BYTES, MAX_REQUEST_BYTES};
use flashraid::{HostLoop, OpKind, Request, RequestSource, SourceError};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyDict, PyMapping};

use crate::error::{refused, refused_at};

/// The name of a capsule that holds a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// Columns that a request is made of.
const KNOWN: [&str; 10] =
    ["arrival_ns", "time_ns", "offset_bytes", "length_bytes", "direction", "write", "device", "stream", "high_priority", "fua"];
/// Columns that results have beside these: results can be given back as they are.
const PASSED_OVER: [&str; 11] = [
    "index",
    "done_ns",
    "response_ns",
    "gc_members_met",
    "queue_ns",
    "collection_ns",
    "parity_ns",
    "cache_ns",
    "transfer_ns",
    "flash_ns",
    "other_ns",
];

/// Requests that were given as columns.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Requests {
    /// Requests in order of arrival.
    pub list: Arc<Vec<Request>>,
    /// Device of each request; empty if there is only one device.
    pub devices: Vec<u32>,
    host: HostLoop,
}

#[pymethods]
impl Requests {
    /// Reads requests from columns. With `depth` outstanding requests, they are a closed loop, which needs no times.
    #[new]
    fn new(py: Python<'_>, columns: &Bound<'_, PyAny>, depth: Option<u32>, think_ns: u64) -> PyResult<Requests> {
        let columns = Columns::of(columns)?;
        let host = match depth {
            None => HostLoop::Open,
            Some(0) => return Err(refused_at(py, "depth", "0", "at least 1", None)),
            Some(depth) => HostLoop::Closed { depth, think_ns },
        };
        columns.requests(py, host)
    }

    fn __len__(&self) -> usize {
        self.list.len()
    }

    /// Returns the requests as columns, of which they can be made again.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let rows = || self.list.iter();
        columns.set_item("arrival_ns", rows().map(|request| request.arrival_ns).collect::<Vec<_>>())?;
        columns.set_item("offset_bytes", rows().map(|request| request.offset_bytes).collect::<Vec<_>>())?;
        columns.set_item("length_bytes", rows().map(|request| request.length_bytes).collect::<Vec<_>>())?;
        columns.set_item("direction", rows().map(|request| request.kind.name()).collect::<Vec<_>>())?;
        columns.set_item("stream", rows().map(|request| u32::from(request.stream)).collect::<Vec<_>>())?;
        columns.set_item("high_priority", rows().map(|request| request.high_priority).collect::<Vec<_>>())?;
        columns.set_item("fua", rows().map(|request| request.fua).collect::<Vec<_>>())?;
        if !self.devices.is_empty() {
            columns.set_item("device", self.devices.clone())?;
        }
        Ok(columns)
    }

    /// Returns the name of a column with something that a trace cannot hold, if there is one.
    fn beyond_a_trace(&self) -> Option<&'static str> {
        let has = |of: fn(&Request) -> bool| self.list.iter().any(of);
        match () {
            () if has(|request| request.high_priority) => Some("high_priority"),
            () if has(|request| request.fua) => Some("fua"),
            () if has(|request| request.stream > 0) => Some("stream"),
            () if has(|request| !matches!(request.kind, OpKind::Read | OpKind::Write)) => Some("direction"),
            () => None,
        }
    }
}

impl Requests {
    /// Returns the requests as a source for one run.
    pub fn source(&self) -> impl RequestSource + Send + use<> {
        Rows { list: Arc::clone(&self.list), next: 0, host: self.host }
    }
}

/// Gives one request after the other.
struct Rows {
    list: Arc<Vec<Request>>,
    next: usize,
    host: HostLoop,
}

impl RequestSource for Rows {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        let request = self.list.get(self.next).copied();
        self.next += usize::from(request.is_some());
        Ok(request)
    }

    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        let end = self.list.len().min(self.next + n);
        out.extend_from_slice(&self.list[self.next..end]);
        let filled = end - self.next;
        self.next = end;
        Ok(filled)
    }

    fn host_loop(&self) -> HostLoop {
        self.host
    }

    fn progress(&self) -> Option<f64> {
        Some(self.next as f64 / self.list.len().max(1) as f64)
    }

    fn position_in_input(&self, requests_after: usize) -> Option<String> {
        Some(format!("row {}", self.next.checked_sub(1 + requests_after)?))
    }
}

/// Columns by name, as they were given.
struct Columns(Vec<(String, Values)>);

enum Values {
    Arrow(Vec<ArrayRef>),
    Python(Py<PyAny>),
}

/// Row of a wrong value, and a description of it.
type Wrong = (usize, String);

impl Columns {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Columns> {
        let py = given.py();
        if let Some(columns) = from_stream(given)? {
            return Ok(columns);
        }
        if given.hasattr("__arrow_c_array__")? {
            let array = array_of(given)?;
            let Some(table) = array.as_ref().and_then(|array| array.as_any().downcast_ref::<StructArray>()) else {
                return Err(refused_at(py, "requests", "an array without columns", "a table", None));
            };
            let columns = table.fields().iter().zip(table.columns());
            return Ok(Columns(columns.map(|(field, values)| (field.name().clone(), Values::Arrow(vec![Arc::clone(values)]))).collect()));
        }
        let Ok(mapping) = given.cast::<PyMapping>() else {
            let found = given.get_type().name()?.to_string();
            let help = "a table of polars, pandas, pyarrow or DuckDB, or {\"offset_bytes\": …, \"length_bytes\": …, \"direction\": …}";
            return Err(refused_at(py, "requests", &format!("a {found}"), "a table or a mapping of columns", Some(help)));
        };
        let mut columns = Vec::new();
        for item in mapping.items()?.iter() {
            let (name, values): (String, Bound<'_, PyAny>) = item.extract()?;
            let values = if values.hasattr("__arrow_c_stream__")? {
                Values::Arrow(chunks_of(&values)?)
            } else {
                match array_of(&values)? {
                    Some(array) => Values::Arrow(vec![array]),
                    None => Values::Python(values.unbind()),
                }
            };
            columns.push((name, values));
        }
        Ok(Columns(columns))
    }

    fn requests(&self, py: Python<'_>, host: HostLoop) -> PyResult<Requests> {
        if let Some((name, _)) = self.0.iter().find(|(name, _)| ![&KNOWN[..], &PASSED_OVER[..]].concat().contains(&name.as_str())) {
            return Err(refused_at(
                py,
                "requests",
                &format!("a table with a column {name:?}"),
                &format!("one of {}", KNOWN.join(", ")),
                None,
            ));
        }
        let find = |name: &str| self.0.iter().find(|(known, _)| known == name).map(|(_, values)| values);
        let number = |name: &str, most: u64| -> PyResult<Option<Vec<u64>>> {
            let Some(values) = find(name) else { return Ok(None) };
            let allowed = format!("a whole number from 0 to {most}");
            let refuse = |(row, found): Wrong| refused_at(py, name, &format!("{found} in row {row}"), &allowed, None);
            let values = values.numbers(py, name)?.map_err(refuse)?;
            match values.iter().position(|value| *value > most) {
                Some(row) => Err(refuse((row, values[row].to_string()))),
                None => Ok(Some(values)),
            }
        };
        let flag = |name: &str| -> PyResult<Option<Vec<bool>>> {
            Ok(number(name, 1)?.map(|values| values.iter().map(|value| *value == 1).collect()))
        };
        let missing = |what: &str| refused_at(py, "requests", &format!("a table without {what}"), "a table that has it", None);

        let offsets = number("offset_bytes", MAX_OFFSET_BYTES)?.ok_or_else(|| missing("offset_bytes"))?;
        let lengths = number("length_bytes", MAX_REQUEST_BYTES)?.ok_or_else(|| missing("length_bytes"))?;
        let kinds = match (find("direction"), flag("write")?) {
            (Some(values), None) => values.kinds(py)?.map_err(|(row, found)| {
                refused_at(py, "direction", &format!("{found} in row {row}"), "\"read\", \"write\", \"trim\" or \"flush\"", None)
            })?,
            (None, Some(writes)) => writes.into_iter().map(OpKind::from_is_write).collect(),
            (Some(_), Some(_)) => {
                return Err(refused_at(py, "requests", "a table with direction and write", "a table with one of them", None));
            }
            (None, None) => return Err(missing("direction (or write)")),
        };
        let arrivals = match (number("arrival_ns", TIME_MAX_NS)?, number("time_ns", TIME_MAX_NS)?) {
            (Some(arrivals), None) | (None, Some(arrivals)) => arrivals,
            (Some(_), Some(_)) => {
                return Err(refused_at(py, "requests", "a table with arrival_ns and time_ns", "a table with one of them", None));
            }
            (None, None) if host == HostLoop::Open => {
                let help = "give a depth for a closed loop, which needs no times";
                return Err(refused_at(py, "requests", "a table without arrival_ns", "a table that has it", Some(help)));
            }
            (None, None) => vec![0; offsets.len()],
        };
        let devices: Vec<u32> =
            number("device", u64::from(u32::MAX))?.unwrap_or_default().into_iter().map(|device| device as u32).collect();
        let streams = number("stream", u64::from(u8::MAX))?.unwrap_or_default();
        let priorities = flag("high_priority")?.unwrap_or_default();
        let forced = flag("fua")?.unwrap_or_default();

        let rows = offsets.len();
        let lengths_of = [
            ("length_bytes", lengths.len()),
            ("direction", kinds.len()),
            ("arrival_ns", arrivals.len()),
            ("device", if devices.is_empty() { rows } else { devices.len() }),
            ("stream", if streams.is_empty() { rows } else { streams.len() }),
            ("high_priority", if priorities.is_empty() { rows } else { priorities.len() }),
            ("fua", if forced.is_empty() { rows } else { forced.len() }),
        ];
        if let Some((name, other)) = lengths_of.iter().find(|(_, other)| *other != rows) {
            return Err(refused_at(py, name, &format!("a column of {other} rows"), &format!("one of {rows} rows, as offset_bytes"), None));
        }
        // Results come in the order of ends; their index is the order in which they came.
        let order = match number("index", u64::MAX)? {
            Some(index) if index.len() == rows => {
                let mut order: Vec<usize> = (0..rows).collect();
                order.sort_by_key(|row| (arrivals[*row], index[*row]));
                order
            }
            Some(index) => {
                let allowed = format!("one of {rows} rows, as offset_bytes");
                return Err(refused_at(py, "index", &format!("a column of {} rows", index.len()), &allowed, None));
            }
            None => (0..rows).collect(),
        };
        let is_result = find("index").is_some();
        if let Some(row) = (1..rows).find(|row| !is_result && arrivals[*row] < arrivals[row - 1]) {
            let help = "sort the table by arrival_ns";
            let found = format!("{} in row {row}, after {}", arrivals[row], arrivals[row - 1]);
            return Err(refused_at(py, "arrival_ns", &found, "in order of time", Some(help)));
        }
        if let Some(row) = (0..rows).find(|row| lengths[*row] == 0 && kinds[*row] != OpKind::Flush) {
            return Err(refused_at(py, "length_bytes", &format!("0 in row {row}"), "at least 1", None));
        }
        let request = |row: usize| Request {
            fua: forced.get(row).copied().unwrap_or(false),
            high_priority: priorities.get(row).copied().unwrap_or(false),
            stream: streams.get(row).map_or(0, |stream| *stream as u8),
            ..Request::new(kinds[row], arrivals[row], offsets[row], lengths[row])
        };
        let devices = if devices.is_empty() { devices } else { order.iter().map(|row| devices[*row]).collect() };
        Ok(Requests { list: Arc::new(order.into_iter().map(request).collect()), devices, host })
    }
}

impl Values {
    /// Returns the column as whole numbers. Truth values count as 0 and 1.
    fn numbers(&self, py: Python<'_>, name: &str) -> PyResult<Result<Vec<u64>, Wrong>> {
        match self {
            Values::Arrow(chunks) => {
                let mut all = Vec::with_capacity(chunks.iter().map(|chunk| chunk.len()).sum());
                for chunk in chunks {
                    if let Err((row, found)) = arrow_numbers(chunk, &mut all) {
                        return Ok(Err((row, found)));
                    }
                }
                Ok(Ok(all))
            }
            Values::Python(values) => {
                let values = values.bind(py);
                match buffer_numbers(values)? {
                    Some(numbers) => Ok(numbers),
                    None => list_numbers(values)
                        .map_err(|_| refused_at(py, name, "a column that is no list of whole numbers", "whole numbers of 0 or more", None)),
                }
            }
        }
    }

    /// Returns the column as kinds of operations.
    fn kinds(&self, py: Python<'_>) -> PyResult<Result<Vec<OpKind>, Wrong>> {
        let mut kinds = Vec::new();
        match self {
            Values::Arrow(chunks) => {
                for chunk in chunks {
                    if let Err(wrong) = arrow_kinds(chunk, &mut kinds) {
                        return Ok(Err(wrong));
                    }
                }
            }
            Values::Python(values) => {
                let values = values.bind(py);
                // One call for all of an array of texts.
                let values = if values.hasattr("tolist")? { values.call_method0("tolist")? } else { values.clone() };
                for (row, value) in values.try_iter()?.enumerate() {
                    let value = value?;
                    match value.extract::<String>().ok().as_deref().and_then(kind_of) {
                        Some(kind) => kinds.push(kind),
                        None => return Ok(Err((row, value.repr()?.to_string()))),
                    }
                }
            }
        }
        Ok(Ok(kinds))
    }
}

fn kind_of(name: &str) -> Option<OpKind> {
    [OpKind::Read, OpKind::Write, OpKind::Trim, OpKind::Flush].into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
}

/// Appends the whole numbers of an Arrow array.
fn arrow_numbers(values: &ArrayRef, all: &mut Vec<u64>) -> Result<(), Wrong> {
    let before = all.len();
    if let Some(row) = first_null(values) {
        return Err((before + row, "nothing".to_owned()));
    }
    macro_rules! whole {
        ($kind:ty) => {{
            for (row, value) in values.as_primitive::<$kind>().values().iter().enumerate() {
                all.push(u64::try_from(*value).map_err(|_| (before + row, value.to_string()))?);
            }
        }};
    }
    match values.data_type() {
        DataType::UInt64 => all.extend_from_slice(values.as_primitive::<UInt64Type>().values()),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int8 => whole!(Int8Type),
        DataType::Boolean => all.extend(values.as_boolean().values().iter().map(u64::from)),
        DataType::Float64 => {
            for (row, value) in values.as_primitive::<Float64Type>().values().iter().enumerate() {
                all.push(of_float(*value).ok_or_else(|| (before + row, value.to_string()))?);
            }
        }
        DataType::Float32 => {
            for (row, value) in values.as_primitive::<Float32Type>().values().iter().enumerate() {
                all.push(of_float(f64::from(*value)).ok_or_else(|| (before + row, value.to_string()))?);
            }
        }
        other => return Err((before, format!("a {other}"))),
    }
    Ok(())
}

fn first_null(values: &ArrayRef) -> Option<usize> {
    (values.null_count() > 0).then(|| (0..values.len()).find(|row| values.is_null(*row)).unwrap_or(0))
}

/// A number that is whole and that a floating-point number tells apart from its neighbours.
fn of_float(value: f64) -> Option<u64> {
    (value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value)).then_some(value as u64)
}

/// Appends the kinds of operations of an Arrow array.
fn arrow_kinds(values: &ArrayRef, kinds: &mut Vec<OpKind>) -> Result<(), Wrong> {
    let before = kinds.len();
    if let Some(row) = first_null(values) {
        return Err((before + row, "nothing".to_owned()));
    }
    let mut take = |row: usize, text: &str| match kind_of(text) {
        Some(kind) => {
            kinds.push(kind);
            Ok(())
        }
        None => Err((before + row, format!("{text:?}"))),
    };
    match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().iter().flatten().enumerate().try_for_each(|(row, text)| take(row, text)),
        DataType::LargeUtf8 => values.as_string::<i64>().iter().flatten().enumerate().try_for_each(|(row, text)| take(row, text)),
        DataType::Utf8View => values.as_string_view().iter().flatten().enumerate().try_for_each(|(row, text)| take(row, text)),
        DataType::Dictionary(_, _) => {
            let dictionary = values.as_any_dictionary();
            if dictionary.values().is_empty() {
                return Ok(());
            }
            // Only the names that occur have to be kinds; each is looked up once.
            let names = texts(dictionary.values()).ok_or_else(|| (before, format!("a {}", values.data_type())))?;
            let known: Vec<Option<OpKind>> = names.iter().map(|name| kind_of(name)).collect();
            for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
                kinds.push(known[key].ok_or_else(|| (before + row, format!("{:?}", names[key])))?);
            }
            Ok(())
        }
        other => Err((before, format!("a {other}"))),
    }
}

fn texts(values: &ArrayRef) -> Option<Vec<String>> {
    let own = |text: Option<&str>| text.unwrap_or_default().to_owned();
    match values.data_type() {
        DataType::Utf8 => Some(values.as_string::<i32>().iter().map(own).collect()),
        DataType::LargeUtf8 => Some(values.as_string::<i64>().iter().map(own).collect()),
        DataType::Utf8View => Some(values.as_string_view().iter().map(own).collect()),
        _ => None,
    }
}

/// Returns the numbers of an object with the buffer protocol, such as a NumPy array; `None` if it is no such object.
fn buffer_numbers(values: &Bound<'_, PyAny>) -> PyResult<Option<Result<Vec<u64>, Wrong>>> {
    // A buffer of truth values is one of bytes for whoever asks for that.
    let of_booleans =
        values.hasattr("dtype")? && values.getattr("dtype")?.getattr("kind")?.extract::<String>().is_ok_and(|kind| kind == "b");
    let values = if of_booleans { values.call_method1("view", ("uint8",))? } else { values.clone() };
    macro_rules! try_as {
        ($($kind:ty),*) => {$(
            if let Some(numbers) = buffer_of::<$kind>(&values)? {
                let convert = |(row, value): (usize, $kind)| u64::try_from(value).map_err(|_| (row, value.to_string()));
                return Ok(Some(numbers.into_iter().enumerate().map(convert).collect()));
            }
        )*};
    }
    try_as!(u64, i64, u32, i32, u16, i16, u8, i8);
    let floats = match buffer_of::<f64>(&values)? {
        Some(floats) => Some(floats),
        None => buffer_of::<f32>(&values)?.map(|values| values.into_iter().map(f64::from).collect()),
    };
    let convert = |(row, value): (usize, f64)| of_float(value).ok_or_else(|| (row, value.to_string()));
    Ok(floats.map(|floats| floats.into_iter().enumerate().map(convert).collect()))
}

fn buffer_of<T: Element>(values: &Bound<'_, PyAny>) -> PyResult<Option<Vec<T>>> {
    match PyBuffer::<T>::get(values) {
        Ok(buffer) if buffer.dimensions() == 1 => Ok(Some(buffer.to_vec(values.py())?)),
        _ => Ok(None),
    }
}

/// Returns the numbers of a list.
fn list_numbers(values: &Bound<'_, PyAny>) -> PyResult<Result<Vec<u64>, Wrong>> {
    let mut numbers = Vec::new();
    for (row, value) in values.try_iter()?.enumerate() {
        let value = value?;
        match value.extract::<u64>().ok().or_else(|| value.extract::<f64>().ok().and_then(of_float)) {
            Some(number) => numbers.push(number),
            None => return Ok(Err((row, value.repr()?.to_string()))),
        }
    }
    Ok(Ok(numbers))
}

/// Returns the columns of a table that is an Arrow stream.
fn from_stream(given: &Bound<'_, PyAny>) -> PyResult<Option<Columns>> {
    if !given.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let py = given.py();
    let reader = reader_of(given)?;
    let schema = reader.schema();
    let mut columns: Vec<(String, Vec<ArrayRef>)> = schema.fields().iter().map(|field| (field.name().clone(), Vec::new())).collect();
    for batch in reader {
        let batch = batch.map_err(|error| refused(py, &format!("the table can't be read: {error}")))?;
        for ((_, chunks), values) in columns.iter_mut().zip(batch.columns()) {
            chunks.push(Arc::clone(values));
        }
    }
    Ok(Some(Columns(columns.into_iter().map(|(name, chunks)| (name, Values::Arrow(chunks))).collect())))
}

fn reader_of(given: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = given.call_method0("__arrow_c_stream__")?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream, by the PyCapsule interface; it is moved out, which the producer's destructor sees.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| refused(given.py(), &format!("the table can't be read: {error}")))
}

/// Returns the chunks of a column that is an Arrow stream.
fn chunks_of(values: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let capsule = values.call_method0("__arrow_c_stream__")?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the same holds for this pointer.
    let chunks = unsafe { ArrayStreamReader::from_raw(pointer.as_ptr()) }.and_then(Iterator::collect);
    chunks.map_err(|error| refused(values.py(), &format!("a column can't be read: {error}")))
}

/// Returns an Arrow array, if the object is one.
fn array_of(values: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    if !values.hasattr("__arrow_c_array__")? {
        return Ok(None);
    }
    let py = values.py();
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = values.call_method0("__arrow_c_array__")?.extract()?;
    let pointer = |capsule: &Bound<'_, PyCapsule>, name: &CStr| capsule.pointer_checked(Some(name));
    let (schema, array) =
        (pointer(&schema, c"arrow_schema")?.cast::<FFI_ArrowSchema>(), pointer(&array, c"arrow_array")?.cast::<FFI_ArrowArray>());
    // SAFETY: by the PyCapsule interface, capsules of these names hold a schema and an array that belong together. Both are moved out,
    // which the producer's destructors notice.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), &FFI_ArrowSchema::from_raw(schema.as_ptr())) };
    data.map(|data| Some(make_array(data))).map_err(|error| refused(py, &format!("a column can't be read: {error}")))
}
