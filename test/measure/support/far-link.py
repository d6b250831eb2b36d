"""Joins two network namespaces by a pair of TUN devices, and holds every packet back for a while.

Usage: far-link.py CLIENT_NS CLIENT_IP SERVER_NS SERVER_IP DELAY_MS; says "ready", ends with its stdin.
"""

import collections
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x0001 | 0x1000


def open_tun(name, namespace, address, peer):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN_NO_PI))
    for command in (
        ["ip", "link", "set", name, "netns", namespace],
        ["ip", "-n", namespace, "address", "add", address, "peer", peer, "dev", name],
        ["ip", "-n", namespace, "link", "set", name, "up", "mtu", "1400"],
        ["ip", "-n", namespace, "link", "set", "lo", "up"],
    ):
        subprocess.run(command, check=True)
    return device


def main():
    client_namespace, client, server_namespace, server, delay_ms = sys.argv[1:]
    suffix = str(os.getpid())
    client_device = open_tun(f"mrc{suffix}", client_namespace, client, server)
    server_device = open_tun(f"mrs{suffix}", server_namespace, server, client)
    other = {client_device: server_device, server_device: client_device}
    waiting = collections.deque()
    print("ready", flush=True)
    while True:
        rest = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        readable, _, _ = select.select([client_device, server_device, sys.stdin], [], [], rest)
        if sys.stdin in readable and os.read(sys.stdin.fileno(), 1) == b"":
            return
        for device in readable:
            while device != sys.stdin:
                try:
                    waiting.append((time.monotonic() + float(delay_ms) / 1000, other[device], os.read(device, 65536)))
                except BlockingIOError:
                    break
        while waiting and waiting[0][0] <= time.monotonic():
            _, device, packet = waiting.popleft()
            os.write(device, packet)


main()
