#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes sample captures of RPC-over-RDMA, for RoCE and for iWARP.

usage: samples.py DIR

DIR gets, with -roce.pcap and -iwarp.pcap at the end of each name:

  vectors       the messages of tools/vectors/vectors.json, one a packet, between the
                packets that set a connection up (iWARP)
  chunks        Calls and Replies of NFS with every kind of chunk, whose payload
                went by RDMA Read and Write
  negotiation   both ways to begin: CONNPROP answered; refused with ERR_VERS, and
                version 1 on the same connection
  errors        an error of each kind, each about a Call
  change        CONNPROPs that announce the extension, and a property change
"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools/vectors")]
sys.dont_write_bytecode = True

import packets                                     # noqa: E402
import rpcrdma2                                    # noqa: E402

CLIENT, SERVER = 0, 1
words = rpcrdma2.words

with open(os.path.join(HERE, "../../tools/vectors/vectors.json")) as f:
    VECTORS = {v["name"]: v for v in json.load(f)["vectors"]}

# ---- what NFS version 3 puts into the messages ----

NFS, V3 = 100003, 3
NULL, WRITE, READ, READLINK, SYMLINK = 0, 7, 6, 5, 10
FH = words(8) + bytes(range(8))
NO_ATTR = words(0)


def opaque(data):
    return words(len(data)) + data + bytes(-len(data) % 4)


def call(xid, procedure, args=b""):
    return words(xid, 0, 2, NFS, V3, procedure, 0, 0, 0, 0) + args


def reply(xid, results=b""):
    return words(xid, 1, 0, 0, 0, 0) + results


def segment(handle, offset, length):
    return {"rdma_handle": handle, "rdma_length": length,
            "rdma_offset": "0x%016x" % offset}


def entry(position, handle, offset, length):
    return dict(segment(handle, offset, length), rdma_position=position)


def header(vers, xid, nomsg=False, response=False, reads=(), writes=(),
           reply_chunk=None, inv=0):
    m = {"rdma_xid": xid, "rdma_vers": vers, "rdma_credit": 16 if response else 32,
         "rdma_htype": "RDMA2_NOMSG" if nomsg else "RDMA2_MSG",
         "rdma_reads": list(reads), "rdma_writes": list(writes),
         "rdma_reply": reply_chunk}
    if vers == 2:
        m["rdma_flags"] = int(response)
        m["rdma_inv_handle"] = inv
    return rpcrdma2.message(m)


def pattern(n):
    return bytes(i * 7 & 0xFF for i in range(n))


# ---- what happens on a connection ----

def null(c, vers, xid):
    c.send(CLIENT, header(vers, xid) + call(xid, NULL))
    c.send(SERVER, header(vers, xid, response=True) + reply(xid))


def write_call(xid, data):
    """A WRITE as it would be with its data in place; where they are."""
    args = FH + struct.pack(">Q", 0) + words(len(data), 2)
    head = call(xid, WRITE, args + words(len(data)))
    return head, data


def written(xid, n):
    return reply(xid, words(0) + NO_ATTR + NO_ATTR + words(n, 2) + bytes(8))


def write_by_read_chunk(c, vers, xid, n=5001):
    """The data of a WRITE in two segments, read by the server."""
    head, data = write_call(xid, pattern(n))
    cut = 4096
    reads = [entry(len(head), 0xA101, 0xB8DB88DFAC997800, cut),
             entry(len(head), 0xA102, 0xB8DB88DFFFFFF801, n - cut)]
    c.send(CLIENT, header(vers, xid, reads=reads, inv=0xA102) + head)
    c.read(SERVER, 0xA101, 0xB8DB88DFAC997800, data[:cut])
    c.read(SERVER, 0xA102, 0xB8DB88DFFFFFF801, data[cut:])
    c.send(SERVER, header(vers, xid, response=True) + written(xid, n),
           invalidate=0xA102)


def read_results(data, n=None):
    return words(0) + NO_ATTR + words(n or len(data), 1) + words(len(data))


def read_by_write_chunk(c, vers, xid, n=5001):
    """The data of a READ, written by the server into two segments."""
    data = pattern(n)
    chunk = [segment(0xC301, 0xB8DB88DFAC997803, 4096), segment(0xC302, 0x4000, 4096)]
    used = [segment(0xC301, 0xB8DB88DFAC997803, 4096), segment(0xC302, 0x4000, n - 4096)]
    c.send(CLIENT, header(vers, xid, writes=[chunk], inv=0xC301) +
           call(xid, READ, FH + struct.pack(">Q", 0) + words(n)))
    c.write(SERVER, 0xC301, 0xB8DB88DFAC997803, data[:4096])
    c.write(SERVER, 0xC302, 0x4000, data[4096:])
    c.send(SERVER, header(vers, xid, response=True, writes=[used]) +
           reply(xid, read_results(data)), invalidate=0xC301)


def long_call(c, vers, xid, n=3001):
    """The whole of a SYMLINK in a Position-Zero chunk."""
    msg = call(xid, SYMLINK, FH + opaque(b"link") + words(0, 0, 0, 0, 0, 0) +
               opaque(b"x" * n))
    c.send(CLIENT, header(vers, xid, nomsg=True,
                          reads=[entry(0, 0xB201, 0x1000, len(msg))]))
    c.read(SERVER, 0xB201, 0x1000, msg)
    c.send(SERVER, header(vers, xid, response=True) +
           reply(xid, words(0, 0) + NO_ATTR + NO_ATTR + NO_ATTR))


def long_reply(c, vers, xid, n=3001):
    """The whole of the Reply to a READLINK in the Reply chunk."""
    msg = reply(xid, words(0) + NO_ATTR + opaque(b"y" * n))
    c.send(CLIENT, header(vers, xid, inv=0xB203,
                          reply_chunk=[segment(0xB203, 0x10000, 0x10000)]) +
           call(xid, READLINK, FH))
    c.write(SERVER, 0xB203, 0x10000, msg)
    c.send(SERVER, header(vers, xid, nomsg=True, response=True,
                          reply_chunk=[segment(0xB203, 0x10000, len(msg))]),
           invalidate=0xB203)


def long_inline_reply(c, xid, n=2501):
    """A Reply of several packets, although there was a Reply chunk."""
    c.send(CLIENT, header(2, xid, inv=0xB204,
                          reply_chunk=[segment(0xB204, 0x10000, 0x10000)]) +
           call(xid, READLINK, FH))
    c.send(SERVER, header(2, xid, response=True,
                          reply_chunk=[segment(0xB204, 0x10000, 0)]) +
           reply(xid, words(0) + NO_ATTR + opaque(b"z" * n)), invalidate=0xB204)


def reverse_call(c, vers, xid):
    """A NULL that the server sends to the client's callback program."""
    msg = words(xid, 0, 2, 0x40000000, 1, 0, 0, 0, 0, 0)
    c.send(SERVER, header(vers, xid) + msg)
    c.send(CLIENT, header(vers, xid, response=True) + reply(xid))


def chunks(c):
    """XIDs go up, as those of the change and the negotiation do."""
    for vers, base in ((2, 0x100), (1, 0x200)):
        null(c, vers, base)
        write_by_read_chunk(c, vers, base + 1)
        read_by_write_chunk(c, vers, base + 2)
        long_call(c, vers, base + 3)
        long_reply(c, vers, base + 4)
        if vers == 2:
            long_inline_reply(c, base + 6)
        reverse_call(c, vers, base + 5)


def vector(name, **changes):
    v = VECTORS[name]
    return rpcrdma2.message(dict(v["message"], **changes))


def properties(c, first="P1", answer="P2"):
    c.send(CLIENT, vector(first))
    c.send(SERVER, vector(answer))


def refused(c):
    """A server of version 1 answers; the client goes on with version 1."""
    xid = VECTORS["P1"]["message"]["rdma_xid"]
    c.send(CLIENT, vector("P1"))
    c.send(SERVER, vector("E1b", rdma_xid=xid))
    null(c, 1, 0x300)


def errors(c):
    properties(c)
    names = ["E%d" % i for i in range(2, 10)]
    for i, name in enumerate(names):
        xid = 0x400 + i
        c.send(CLIENT, header(2, xid) + call(xid, NULL))
        c.send(SERVER, vector(name, rdma_xid=xid))
    # Of another version than the connection's: ERR_VERS in the common form
    c.send(CLIENT, header(3, 0x4F0) + call(0x4F0, NULL))
    c.send(SERVER, vector("E1a", rdma_xid=0x4F0))


def change(c):
    nochg = {"rdma_which": 0xFFFFFF01, "name": "X_NOCHG", "value": [2]}
    mine = VECTORS["P1"]["message"]["rdma_props"] + [nochg]
    c.send(CLIENT, vector("P1", rdma_props=mine))
    c.send(SERVER, vector("P2"))
    c.send(CLIENT, vector("G1"))
    c.send(SERVER, vector("G4"))
    c.send(SERVER, vector("G6"))
    null(c, 2, 0x500)


def messages():
    """The vectors that are messages; headers get a RPC message."""
    for v in VECTORS.values():
        if "message" not in v:
            continue
        data = bytes.fromhex(v["hex"])
        if v.get("header_only"):
            xid = v["message"]["rdma_xid"]
            data += call(xid, NULL) if not v["message"]["rdma_flags"] else \
                reply(xid)
        yield v, data


def vectors(c):
    for v, data in messages():
        response = v["message"].get("rdma_flags", "rdma_err" in v["message"])
        c.send(SERVER if response else CLIENT, data)


def save(directory, name, fill, *more):
    for kind in (packets.Roce, packets.Iwarp):
        capture = packets.Capture()
        fill(kind(capture))
        for i, another in enumerate(more, 1):
            numbers = (0x11 + 2 * i, 0x12 + 2 * i) \
                if kind is packets.Roce else (40000 + i, 20049)
            another(kind(capture, numbers))
        capture.save(os.path.join(directory, "%s-%s.pcap" %
                                  (name, kind.__name__.lower())))


def make(directory):
    os.makedirs(directory, exist_ok=True)
    save(directory, "vectors", vectors)
    save(directory, "chunks", chunks)
    save(directory, "negotiation",
         lambda c: (properties(c), null(c, 2, 0x2F0)), refused)
    save(directory, "errors", errors)
    save(directory, "change", change)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(sys.argv[1])
