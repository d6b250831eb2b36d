"""Scrapy, its items to a JSON Lines file, everything that waits switched off. argv: base URL, requests, concurrency."""
import json
import resource
import sys
import tempfile
import time

import scrapy
from scrapy.crawler import CrawlerProcess

base, total, concurrency = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Items(scrapy.Spider):
    name = "items"

    def start_requests(self):
        for index in range(total):
            yield scrapy.Request(f"{base}/items/{index}")

    def parse(self, response):
        yield response.json()


with tempfile.NamedTemporaryFile(suffix=".jsonl") as feed:
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "ERROR",
            "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
            "FEEDS": {feed.name: {"format": "jsonlines"}},
        }
    )
    crawler = process.create_crawler(Items)
    process.crawl(crawler)
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    process.start()
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
if crawler.stats.get_value("item_scraped_count") != total:
    sys.exit("not all succeeded")
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps({"requestsPerSecond": total / wall, "cpuMicros": cpu * 1e6 / total}))
