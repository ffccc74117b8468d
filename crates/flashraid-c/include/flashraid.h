/* flashraid: an array of SSDs under simulation, for C programs. Licence: MIT or Apache 2.0. */

#ifndef FLASHRAID_H
#define FLASHRAID_H

/* Made by cbindgen of crates/flashraid-c/src/lib.rs; a test keeps it current. */

#include <stddef.h>
#include <stdint.h>

/*
 Version of this header. flashraid_version() returns that of the library.
 */
#define FLASHRAID_VERSION "0.1.0"
#define FLASHRAID_VERSION_MAJOR 0
#define FLASHRAID_VERSION_MINOR 1
#define FLASHRAID_VERSION_PATCH 0

/*
 The call has succeeded.
 */
#define FLASHRAID_OK 0

/*
 A null pointer, a text that is not UTF-8, or an unknown kind, flag or stream.
 */
#define FLASHRAID_BAD_ARGUMENT -1

/*
 The device is 0, was never opened, or has been closed.
 */
#define FLASHRAID_BAD_DEVICE -2

/*
 The configuration cannot be used. The message lists every problem.
 */
#define FLASHRAID_BAD_CONFIG -3

/*
 The time lies before that of an earlier call. Nothing has changed.
 */
#define FLASHRAID_TIME_GOES_BACK -4

/*
 Simulated time would pass 2^62 ns.
 */
#define FLASHRAID_CLOCK_ENDS -5

/*
 The request reaches beyond the array, or has no bytes. Nothing has changed.
 */
#define FLASHRAID_BAD_EXTENT -6

/*
 The buffer is too small for the report.
 */
#define FLASHRAID_NO_ROOM -7

/*
 A file, memory or the number of open devices: the message says which.
 */
#define FLASHRAID_FAILED -8

/*
 A bug of flashraid. The device is closed.
 */
#define FLASHRAID_BUG -9

/*
 Kind of a request: reads bytes.
 */
#define FLASHRAID_READ 0

/*
 Kind of a request: writes bytes.
 */
#define FLASHRAID_WRITE 1

/*
 Kind of a request: says that bytes are not needed any more.
 */
#define FLASHRAID_TRIM 2

/*
 Kind of a request: makes durable what has been written. Its offset and bytes may be 0.
 */
#define FLASHRAID_FLUSH 3

/*
 Flag that may be added to a kind: the write is done only when its data survive a loss of power.
 */
#define FLASHRAID_FUA 256

/*
 Flag that may be added to a kind: the request must not wait for garbage collection.
 */
#define FLASHRAID_HIGH_PRIORITY 512

/*
 The moment that never comes. flashraid_advance takes it for "until every request is answered".
 */
#define FLASHRAID_NEVER UINT64_MAX

/*
 A device: a number that flashraid_open gave. 0 is none.
 */
typedef uint64_t flashraid_device;

/*
 The answer to a request. The seven last times add up to done_ns - arrival_ns.
 */
typedef struct {
    /*
     The tag of flashraid_submit.
     */
    uint64_t tag;
    /*
     Moment of the submission.
     */
    uint64_t arrival_ns;
    /*
     Moment at which the last byte was done.
     */
    uint64_t done_ns;
    /*
     FLASHRAID_READ, _WRITE, _TRIM or _FLUSH.
     */
    uint32_t kind;
    /*
     Members of the array on which a page waited for garbage collection.
     */
    uint32_t members_in_collection;
    /*
     Pages that were not served, because too many members had failed.
     */
    uint32_t pages_lost;
    /*
     Room for later additions; always 0.
     */
    uint32_t reserved;
    /*
     Time behind other operations.
     */
    uint64_t queue_ns;
    /*
     Time behind garbage collection.
     */
    uint64_t collection_ns;
    /*
     Time for parity: reads ahead of writes, and locks.
     */
    uint64_t parity_ns;
    /*
     Time for the write cache, and waiting for room in it.
     */
    uint64_t cache_ns;
    /*
     Time of transfers over channel and link.
     */
    uint64_t transfer_ns;
    /*
     Time of the flash array's own reads and programs.
     */
    uint64_t flash_ns;
    /*
     All other time, such as that of commands.
     */
    uint64_t other_ns;
} flashraid_answer;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Opens a device: reads the text of a configuration in TOML, and warms the array up. Paths in it are relative to the working folder, and
 its `[workload]` is not used. Returns 0 if that fails. flashraid_error and flashraid_message then tell why.

 # Safety
 `toml` is null or points to a text that ends with a zero byte.
 */
flashraid_device flashraid_open(const char *toml);

/*
 The same of a configuration file; paths in it are relative to its folder.

 # Safety
 `path` is null or points to a text that ends with a zero byte.
 */
flashraid_device flashraid_open_file(const char *path);

/*
 Closes a device and frees what it holds. Returns 0 or an error.
 */
int64_t flashraid_close(flashraid_device device);

/*
 Writes the number of bytes that the array offers to `bytes`. Returns 0 or an error.

 # Safety
 `bytes` is null or may be written.
 */
int64_t flashraid_capacity(flashraid_device device, uint64_t *bytes);

/*
 Submits a request at `now_ns`. `kind` may have flags, `offset` is its first byte, and `bytes` is its length. `stream`, from 0 to 255,
 is what placement handles and streams of a configuration go by. `tag` comes back with the answer. Returns 0 or an error.

 Time never goes back. At its moment a request comes before everything that has not been advanced over.
 */
int64_t flashraid_submit(flashraid_device device,
                         uint64_t now_ns,
                         uint32_t kind,
                         uint64_t offset,
                         uint64_t bytes,
                         uint32_t stream,
                         uint64_t tag);

/*
 Writes the earliest moment at which something may happen to `next_ns`, FLASHRAID_NEVER if nothing is pending. Returns 0 or an error.

 # Safety
 `next_ns` is null or may be written.
 */
int64_t flashraid_next_time(flashraid_device device, uint64_t *next_ns);

/*
 Lets time pass up to and including `until_ns`, and writes at most `n` answers to `out`, in the order of their ends. Returns their
 number, or an error, which is negative.

 If it returns `n`, time stands still at the last of them, so that the caller can react to it. Another call then goes on.
 FLASHRAID_NEVER as `until_ns` stands for "until every request is answered". If `n` is 0, answers wait for a later call.

 # Safety
 `out` is null or points to `n` answers that may be written.
 */
int64_t flashraid_advance(flashraid_device device, uint64_t until_ns, flashraid_answer *out, size_t n);

/*
 Writes a report of what has happened so far to `buffer`: the JSON document of `flashraid run --json`, ended by a zero byte. `length`,
 which may be null, gets its length without that byte. A null buffer with a `room` of 0 asks for the length alone. Returns 0 or an
 error, FLASHRAID_NO_ROOM if `room` bytes are too few. Requests without an answer are not counted. The device goes on as if nobody had
 asked.

 # Safety
 `buffer` is null or points to `room` bytes that may be written; `length` is null or may be written.
 */
int64_t flashraid_report_json(flashraid_device device, char *buffer, size_t room, size_t *length);

/*
 Returns the error of this thread's latest call that failed, or 0.
 */
int64_t flashraid_error(void);

/*
 Returns the message of this thread's latest call that failed, or an empty text. It stays valid until this thread's next call that fails.
 */
const char *flashraid_message(void);

/*
 Returns the version of the library.
 */
const char *flashraid_version(void);

#ifdef __cplusplus
} // extern "C"
#endif // __cplusplus

#endif /* FLASHRAID_H */
