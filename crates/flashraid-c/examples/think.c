/* Eight hosts write and read an array at random. Each thinks for 100 microseconds about an answer.
   cc think.c $(pkg-config --cflags --libs flashraid) && ./a.out array.toml 20000 */
#include <flashraid.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOSTS = 8, PAGE = 4096, THINK_NS = 100000 };

static uint64_t state = 1;

static uint64_t random_below(uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
}

static int64_t checked(int64_t result) {
    if (result < 0) {
        fprintf(stderr, "error %lld: %s\n", (long long)result, flashraid_message());
        exit(1);
    }
    return result;
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: %s FILE.toml REQUESTS\n", argv[0]), 2;
    flashraid_device array = flashraid_open_file(argv[1]);
    if (array == 0) return fprintf(stderr, "%s\n", flashraid_message()), 2;
    long left = atol(argv[2]), done = 0;
    uint64_t bytes, next, wakes[HOSTS] = {0}, slowest = 0, sum = 0;
    checked(flashraid_capacity(array, &bytes));

    while (done < atol(argv[2])) {
        int host = 0;
        for (int i = 1; i < HOSTS; i++)
            if (wakes[i] < wakes[host]) host = i;
        checked(flashraid_next_time(array, &next));
        if (left > 0 && wakes[host] <= next) { /* A host wakes up before anything else happens: it asks for a page. */
            uint32_t kind = random_below(10) < 7 ? FLASHRAID_WRITE : FLASHRAID_READ;
            checked(flashraid_submit(array, wakes[host], kind, random_below(bytes / PAGE) * PAGE, PAGE, 0, host));
            wakes[host] = FLASHRAID_NEVER;
            left--;
            continue;
        }
        flashraid_answer answers[HOSTS];
        int64_t count = checked(flashraid_advance(array, next, answers, HOSTS));
        for (int64_t i = 0; i < count; i++, done++) {
            uint64_t response = answers[i].done_ns - answers[i].arrival_ns;
            sum += response;
            if (response > slowest) slowest = response;
            wakes[answers[i].tag] = answers[i].done_ns + THINK_NS;
        }
    }
    printf("%ld requests, mean %.3f us, slowest %.3f us\n", done, sum / 1e3 / done, slowest / 1e3);
    return checked(flashraid_close(array)) != 0;
}
