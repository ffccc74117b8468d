"""Writers of a database that share a lock, on a simulated array: pip install simpy flashraid.

Each writer takes the lock, writes a record to the log, forces it to flash, and lets go. SimPy has the time, and a flashraid.Device serves the requests.
`replay` sends a recorded trace to the same array.
"""

import flashraid
import simpy


class Array:
    """An array as a part of a SimPy model; the unit of time is a nanosecond."""

    def __init__(self, environment, config):
        self.environment = environment
        self.device = flashraid.Device(config)
        self.submitted = environment.event()
        environment.process(self._serve())

    def request(self, kind, offset=0, length=0):
        """Sends a request now; gives an event that happens with its answer."""
        done = self.environment.event()
        self.device.submit(self.environment.now, kind, offset, length, tag=done)
        self.submitted.succeed()
        self.submitted = self.environment.event()
        return done

    def _serve(self):
        while True:
            next_ns = self.device.next_time()
            if next_ns is None:
                yield self.submitted
                continue
            due = self.environment.timeout(next_ns - self.environment.now)
            yield due | self.submitted
            # A new request may change what happens next.
            if due.processed:
                # Requests come before all else of their nanosecond.
                yield self.environment.timeout(0)
                for answer in self.device.advance(next_ns):
                    answer.tag.succeed(answer)


def transactions(config, writers, count):
    """Runs so many writers of `count` commits each; gives the time of every commit in nanoseconds."""
    environment = simpy.Environment()
    array, lock, commits_ns = Array(environment, config), simpy.Resource(environment), []

    def writer(number):
        for record in range(count):
            begin_ns = environment.now
            with lock.request() as turn:
                yield turn
                yield array.request("write", (number * count + record) * 4096, 4096)
                yield array.request("flush")
            commits_ns.append(environment.now - begin_ns)

    for number in range(writers):
        environment.process(writer(number))
    environment.run()
    return commits_ns


def replay(config, trace):
    """Sends the requests of a trace at their times, and gives the response time of each in nanoseconds. They are those of `flashraid run`."""
    environment = simpy.Environment()
    array, responses_ns = Array(environment, config), {}

    def request(index, arrival_ns, kind, offset, length):
        yield environment.timeout(arrival_ns)
        yield array.request(kind, offset, length)
        responses_ns[index] = environment.now - arrival_ns

    columns = trace.to_pydict()
    rows = zip(*(columns[name] for name in ("arrival_ns", "direction", "offset_bytes", "length_bytes")))
    for index, row in enumerate(rows):
        environment.process(request(index, *row))
    environment.run()
    return [responses_ns[index] for index in range(len(responses_ns))]


if __name__ == "__main__":
    array = {"array": {"members": 4}, "ssd": {"geometry": {"dies": 4, "blocks": 128}}}
    for writers in (1, 2, 4, 8):
        commits_ns = transactions(array, writers, 500)
        print(f"{writers} writers: a commit takes {sum(commits_ns) / len(commits_ns) / 1e3:.1f} µs")
