/* Replays a trace of lines "ns kind offset bytes", kind being 0 for a read and 1 for a write, and prints each response time in nanoseconds.
   cc replay.c $(pkg-config --cflags --libs flashraid) && ./a.out array.toml < trace > response-times */
#include <flashraid.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    flashraid_device array = argc == 2 ? flashraid_open_file(argv[1]) : 0;
    if (array == 0) return fprintf(stderr, "usage: %s FILE.toml: %s\n", argv[0], flashraid_message()), 2;

    uint64_t ns, kind, offset, bytes, tag = 0;
    while (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &ns, &kind, &offset, &bytes) == 4)
        if (flashraid_submit(array, ns, (uint32_t)kind, offset, bytes, 0, tag++) != FLASHRAID_OK)
            return fprintf(stderr, "request %" PRIu64 ": %s\n", tag, flashraid_message()), 1;

    flashraid_answer answers[256];
    int64_t count;
    while ((count = flashraid_advance(array, FLASHRAID_NEVER, answers, 256)) > 0)
        for (int64_t i = 0; i < count; i++)
            printf("%" PRIu64 " %" PRIu64 "\n", answers[i].tag, answers[i].done_ns - answers[i].arrival_ns);

    size_t length;
    if (count < 0 || flashraid_report_json(array, NULL, 0, &length) != FLASHRAID_OK) return fprintf(stderr, "%s\n", flashraid_message()), 1;
    char *report = malloc(length + 1);
    if (report == NULL || flashraid_report_json(array, report, length + 1, NULL) != FLASHRAID_OK) return 1;
    fprintf(stderr, "%s\n", report);
    free(report);
    return flashraid_close(array) != FLASHRAID_OK;
}
