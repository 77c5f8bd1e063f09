# SPDX-License-Identifier: GPL-2.0
"""Packets of RDMA as soft-RoCE and soft-iWARP send them, and pcap files of them.

A connection, Roce or Iwarp, has two ends, 0 (the client) and 1 (the server), and
the same operations on both kinds: send(), write(), read().
"""

import struct

MACS = (bytes.fromhex("525400000002"), bytes.fromhex("525400000001"))
ADDRESSES = (bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1)))


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


CRC32C = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    CRC32C.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 0xFF]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


class Capture:
    """Frames with times that are a millisecond apart."""

    def __init__(self):
        self.frames = []

    def ip(self, end, protocol, payload):
        """A packet that this end sends."""
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload),
                           len(self.frames) & 0xFFFF, 0x4000, 64, protocol, 0,
                           ADDRESSES[end], ADDRESSES[1 - end])
        head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
        self.frames.append(MACS[1 - end] + MACS[end] + b"\x08\0" + head + payload)

    def save(self, path):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for i, frame in enumerate(self.frames):
                out.write(struct.pack("<IIII", 1500000000 + i // 1000,
                                      i % 1000 * 1000, len(frame), len(frame)))
                out.write(frame)


class Roce:
    """A reliable connection of RoCE version 2."""

    MTU = 1024

    def __init__(self, capture, qps=(0x11, 0x12)):
        self.capture = capture
        self.qps = qps
        self.psn = [0x100, 0x800]
        self.msn = [0, 0]

    def packet(self, end, opcode, psn, extra=b"", data=b""):
        pad = -len(data) % 4
        bth = struct.pack(">BBHII", opcode, pad << 4, 0xFFFF, self.qps[1 - end],
                          psn & 0xFFFFFF)
        body = bth + extra + data + bytes(pad) + bytes(4)  # no ICRC
        udp = struct.pack(">HHHH", 0xC000 + self.qps[end], 4791, 8 + len(body), 0)
        self.capture.ip(end, 17, udp + body)

    def train(self, end, opcodes, data, extra=b"", last_extra=b"", psn=None):
        """First, middle, last and only, by the number of packets."""
        first, middle, last, only = opcodes
        parts = [data[i:i + self.MTU] for i in range(0, len(data), self.MTU)]
        if psn is None:
            psn = self.psn[end]
            self.psn[end] += len(parts)
        for i, part in enumerate(parts):
            begins, ends = i == 0, i == len(parts) - 1
            opcode = only if begins and ends else \
                first if begins else last if ends else middle
            head = (extra if begins else b"") + (last_extra if ends else b"")
            self.packet(end, opcode, psn + i, head, part)
        return len(parts)

    def send(self, end, data, invalidate=None):
        if invalidate is None:
            self.train(end, (0, 1, 2, 4), data)
        else:
            self.train(end, (0, 1, 0x16, 0x17), data,
                       last_extra=struct.pack(">I", invalidate))

    def reth(self, handle, offset, length):
        return struct.pack(">QII", offset, handle, length)

    def write(self, end, handle, offset, data):
        """This end writes into the other's memory."""
        self.train(end, (6, 7, 8, 10), data, self.reth(handle, offset, len(data)))

    def read(self, end, handle, offset, data):
        """This end reads the other's memory."""
        psn = self.psn[end]
        self.packet(end, 12, psn, self.reth(handle, offset, len(data)))
        self.msn[1 - end] += 1
        aeth = struct.pack(">I", 0x1F << 24 | self.msn[1 - end])
        # The packets in the middle have no AETH.
        parts = max(1, -(-len(data) // self.MTU))
        self.train(1 - end, (13, 14, 15, 16), data, aeth,
                   aeth if parts > 1 else b"", psn)
        self.psn[end] += parts


class Iwarp:
    """A connection of iWARP: MPA over TCP, DDP and RDMAP."""

    MSS = 1400

    def __init__(self, capture, ports=(40000, 20049)):
        self.capture = capture
        self.ports = ports
        self.seq = [1000, 5000]
        self.msn = [[1, 1], [1, 1]]     # by end and queue
        self.stag = 0x7000
        self.tcp(0, 0x02)
        self.seq[0] += 1
        self.tcp(1, 0x12)
        self.seq[1] += 1
        self.tcp(0, 0x10)
        # With CRC, without markers
        for end, key in ((0, b"MPA ID Req Frame"), (1, b"MPA ID Rep Frame")):
            self.tcp(end, 0x18, key + bytes((0x40, 1)) + bytes(2))

    def tcp(self, end, flags, data=b""):
        def head(value):
            return struct.pack(">HHIIBBHHH", self.ports[end], self.ports[1 - end],
                               self.seq[end],
                               self.seq[1 - end] if flags & 0x10 else 0, 0x50,
                               flags, 65535, value, 0)
        pseudo = ADDRESSES[end] + ADDRESSES[1 - end] + \
            struct.pack(">HH", 6, 20 + len(data))
        self.capture.ip(end, 6, head(checksum(pseudo + head(0) + data)) + data)
        self.seq[end] += len(data)

    def fpdu(self, end, ulpdu):
        pdu = struct.pack(">H", len(ulpdu)) + ulpdu
        pdu += bytes(-len(pdu) % 4)
        self.tcp(end, 0x18, pdu + crc32c(pdu))

    def parts(self, data):
        for i in range(0, len(data), self.MSS):
            yield i, data[i:i + self.MSS], i + self.MSS >= len(data)

    def tagged(self, end, opcode, stag, offset, data):
        for at, part, last in self.parts(data):
            self.fpdu(end, struct.pack(">BBIQ", 0x81 | last << 6, 0x40 | opcode,
                                       stag, offset + at) + part)

    def untagged(self, end, opcode, queue, data, stag=0):
        msn = self.msn[end][queue]
        self.msn[end][queue] += 1
        for at, part, last in self.parts(data):
            self.fpdu(end, struct.pack(">BBIIII", 0x01 | last << 6, 0x40 | opcode,
                                       stag, queue, msn, at) + part)

    def send(self, end, data, invalidate=None):
        if invalidate is None:
            self.untagged(end, 3, 0, data)
        else:
            self.untagged(end, 4, 0, data, invalidate)

    def write(self, end, handle, offset, data):
        self.tagged(end, 0, handle, offset, data)

    def read(self, end, handle, offset, data):
        self.stag += 1
        self.untagged(end, 1, 1, struct.pack(">IQIIQ", self.stag, 0x9000,
                                             len(data), handle, offset))
        self.tagged(1 - end, 2, self.stag, 0x9000, data)
