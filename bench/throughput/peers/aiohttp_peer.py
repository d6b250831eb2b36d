"""aiohttp: one session, as many connections as asked for, nothing kept. argv: base URL, requests, concurrency."""
import asyncio
import json
import resource
import sys
import time

import aiohttp

base, total, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


async def main():
    paths = iter(range(total))
    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def work():
            for index in paths:
                async with session.get(f"{base}/items/{index}") as response:
                    await response.json()

        before = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"requestsPerSecond": total / wall, "cpuMicros": cpu * 1e6 / total}))


asyncio.run(main())
