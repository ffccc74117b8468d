//! Tables as Arrow, which other libraries take through the PyCapsule interface without a copy.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow_buffer::{BooleanBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use flashraid::model::metrics::breakdown::times_ns_by_cause;
use flashraid::{CompletedRequest, OpKind};
use flashraid_report::data::{self, Column};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};

use crate::error::refused;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Rows of a batch: what is collected grows by new batches instead of being copied.
const ROWS_PER_BATCH: usize = 1 << 18;

/// Rows and columns in batches.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// Some rows of a table.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Rows(RecordBatch);

impl Table {
    /// Returns a table of columns of equal length.
    pub fn of(columns: Vec<(String, ArrayRef)>) -> Table {
        let field = |(name, values): &(String, ArrayRef)| Field::new(name, values.data_type().clone(), values.null_count() > 0);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, values)| values).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("the columns are as the schema says");
        Table { schema, batches: vec![batch] }
    }

    /// The rows of a table of the report crate.
    pub fn of_data(table: &data::Table) -> Table {
        let array = |column: &Column| -> ArrayRef {
            match column {
                Column::Text(values) => Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>()),
                Column::Number(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
                Column::Whole(values) => Arc::new(values.iter().copied().collect::<UInt64Array>()),
                Column::Truth(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            }
        };
        Table::of(table.columns().iter().map(|(name, column)| (name.clone(), array(column))).collect())
    }
}

#[pymethods]
impl Table {
    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may answer with the types that it has; whoever asked for others converts.
        drop(requested_schema);
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// The types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The rows in parts, each with `__arrow_c_array__`.
    fn batches(&self) -> Vec<Rows> {
        self.batches.iter().cloned().map(Rows).collect()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The columns as lists of Python values.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (index, field) in self.schema.fields().iter().enumerate() {
            let list = PyList::empty(py);
            for batch in &self.batches {
                append(&list, batch.column(index))?;
            }
            columns.set_item(field.name(), list)?;
        }
        Ok(columns)
    }

    /// A column as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyList>>> {
        let Ok(index) = self.schema.index_of(name) else { return Ok(None) };
        let list = PyList::empty(py);
        self.batches.iter().try_for_each(|batch| append(&list, batch.column(index)))?;
        Ok(Some(list))
    }

    /// The names, types and values of the columns, of which `of_state` makes the table again.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, String, Bound<'py, PyList>)>> {
        let columns = self.schema.fields().iter().enumerate();
        columns
            .map(|(index, field)| {
                let list = PyList::empty(py);
                self.batches.iter().try_for_each(|batch| append(&list, batch.column(index)))?;
                Ok((field.name().clone(), field.data_type().to_string(), list))
            })
            .collect()
    }

    /// Makes a table of the columns that `state` returned.
    #[staticmethod]
    fn of_state(py: Python<'_>, columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
        let column = |kind: &str, values: &Bound<'_, PyAny>| -> PyResult<Option<ArrayRef>> {
            Ok(Some(match kind {
                "UInt64" => Arc::new(UInt64Array::from(values.extract::<Vec<Option<u64>>>()?)),
                "UInt32" => Arc::new(UInt32Array::from(values.extract::<Vec<Option<u32>>>()?)),
                "UInt8" => Arc::new(values.extract::<Vec<Option<u8>>>()?.into_iter().collect::<UInt8Array>()),
                "Float64" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
                "Boolean" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
                "Utf8" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
                _ => return Ok(None),
            }))
        };
        let mut made: Vec<(String, ArrayRef)> = Vec::new();
        for (name, kind, values) in &columns {
            match column(kind, values)? {
                Some(array) if made.first().is_none_or(|(_, first)| first.len() == array.len()) => made.push((name.clone(), array)),
                _ => return Err(refused(py, &format!("this is no table of flashraid: its column {name:?} is a {kind}"))),
            }
        }
        Ok(Table::of(made))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<flashraid table of {} rows: {}>", self.__len__(), self.column_names().join(", "))
    }
}

#[pymethods]
impl Rows {
    /// The rows as an Arrow array of structs, and its type.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(&self, py: Python<'py>, requested_schema: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&StructArray::from(self.0.clone()).into_data()).map_err(|error| PyTypeError::new_err(error.to_string()))?;
        let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
        PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, ARRAY)?])
    }

    /// The types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.schema())
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| PyTypeError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// Appends the values of a column of one of our own tables.
fn append(list: &Bound<'_, PyList>, values: &ArrayRef) -> PyResult<()> {
    match values.data_type() {
        DataType::UInt64 => values.as_primitive::<UInt64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::UInt32 => values.as_primitive::<UInt32Type>().iter().try_for_each(|value| list.append(value)),
        DataType::UInt8 => values.as_primitive::<UInt8Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Int64 => values.as_primitive::<Int64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Float64 => values.as_primitive::<Float64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Boolean => values.as_boolean().iter().try_for_each(|value| list.append(value)),
        DataType::Utf8 => values.as_string::<i32>().iter().try_for_each(|value| list.append(value)),
        other => unreachable!("our tables have no columns of {other}"),
    }
}

/// Names of operations, one after the other, as Arrow keeps texts.
#[derive(Debug)]
pub struct Names {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Names {
    /// Room for a batch.
    pub fn with_capacity(rows: usize) -> Names {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Names { offsets, bytes: Vec::with_capacity(5 * rows) }
    }

    /// Adds the name of an operation.
    pub fn push(&mut self, kind: OpKind) {
        self.bytes.extend_from_slice(kind.name().as_bytes());
        self.offsets.push(self.bytes.len() as i32);
    }

    /// Returns the names as a column.
    pub fn finish(self) -> ArrayRef {
        Arc::new(StringArray::new(OffsetBuffer::new(ScalarBuffer::from(self.offsets)), self.bytes.into(), None))
    }
}

/// A column of numbers that are never missing.
pub fn numbers_u64(values: Vec<u64>) -> ArrayRef {
    Arc::new(UInt64Array::new(ScalarBuffer::from(values), None))
}

/// A column of numbers that are never missing.
pub fn numbers_u32(values: Vec<u32>) -> ArrayRef {
    Arc::new(UInt32Array::new(ScalarBuffer::from(values), None))
}

/// Requests as they are done: the columns of `requests.parquet`.
pub struct Requests {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    part: Part,
}

struct Part {
    index: Vec<u64>,
    arrival_ns: Vec<u64>,
    done_ns: Vec<u64>,
    response_ns: Vec<u64>,
    offset_bytes: Vec<u64>,
    length_bytes: Vec<u64>,
    direction: Names,
    stream: Vec<u8>,
    high_priority: BooleanBufferBuilder,
    gc_members_met: Vec<u32>,
    /// Parts of the response times, in the order of [`PARTS`].
    parts_ns: [Vec<u64>; 7],
}

/// The columns that say where requests waited.
const PARTS: [&str; 7] = ["queue_ns", "collection_ns", "parity_ns", "cache_ns", "transfer_ns", "flash_ns", "other_ns"];

impl Part {
    fn with_capacity(rows: usize) -> Part {
        let numbers = || Vec::with_capacity(rows);
        Part {
            index: numbers(),
            arrival_ns: numbers(),
            done_ns: numbers(),
            response_ns: numbers(),
            offset_bytes: numbers(),
            length_bytes: numbers(),
            direction: Names::with_capacity(rows),
            stream: Vec::with_capacity(rows),
            high_priority: BooleanBufferBuilder::new(rows),
            gc_members_met: Vec::with_capacity(rows),
            parts_ns: std::array::from_fn(|_| Vec::with_capacity(rows)),
        }
    }
}

impl Requests {
    /// Returns an empty list of requests.
    pub fn new() -> Requests {
        let field = |name: &str, data_type| Field::new(name, data_type, false);
        let mut fields = vec![
            field("index", DataType::UInt64),
            field("arrival_ns", DataType::UInt64),
            field("done_ns", DataType::UInt64),
            field("response_ns", DataType::UInt64),
            field("offset_bytes", DataType::UInt64),
            field("length_bytes", DataType::UInt64),
            field("direction", DataType::Utf8),
            field("stream", DataType::UInt8),
            field("high_priority", DataType::Boolean),
            field("gc_members_met", DataType::UInt32),
        ];
        fields.extend(PARTS.iter().map(|name| field(name, DataType::UInt64)));
        let schema = Schema::new(fields);
        Requests { schema: Arc::new(schema), batches: Vec::new(), part: Part::with_capacity(0) }
    }

    /// Adds a request that is done.
    #[inline]
    pub fn add(&mut self, done: &CompletedRequest) {
        if self.part.index.len() == self.part.index.capacity() {
            self.grow();
        }
        let CompletedRequest { arrival_index: index, request, arrival_ns, done_ns, gc_members_met, time } = done;
        let part = &mut self.part;
        part.index.push(*index);
        part.arrival_ns.push(*arrival_ns);
        part.done_ns.push(*done_ns);
        part.response_ns.push(done_ns - arrival_ns);
        part.offset_bytes.push(request.offset_bytes);
        part.length_bytes.push(request.length_bytes);
        part.direction.push(request.kind);
        part.stream.push(request.stream);
        part.high_priority.append(request.high_priority);
        part.gc_members_met.push(*gc_members_met);
        part.parts_ns.iter_mut().zip(times_ns_by_cause(time)).for_each(|(column, ns)| column.push(ns));
    }

    /// Ends the batch and makes room for the next.
    fn grow(&mut self) {
        self.end_batch(ROWS_PER_BATCH);
    }

    fn end_batch(&mut self, next_rows: usize) {
        let part = std::mem::replace(&mut self.part, Part::with_capacity(next_rows));
        if part.index.is_empty() {
            return;
        }
        let mut high_priority = part.high_priority;
        let mut columns: Vec<ArrayRef> = vec![
            numbers_u64(part.index),
            numbers_u64(part.arrival_ns),
            numbers_u64(part.done_ns),
            numbers_u64(part.response_ns),
            numbers_u64(part.offset_bytes),
            numbers_u64(part.length_bytes),
            part.direction.finish(),
            Arc::new(UInt8Array::new(ScalarBuffer::from(part.stream), None)),
            Arc::new(BooleanArray::new(high_priority.finish(), None)),
            numbers_u32(part.gc_members_met),
        ];
        columns.extend(part.parts_ns.map(numbers_u64));
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).expect("the columns are as the schema says");
        self.batches.push(batch);
    }

    /// Returns the table of all requests.
    pub fn finish(mut self) -> Table {
        self.end_batch(0);
        Table { schema: self.schema, batches: self.batches }
    }
}
