# SPDX-License-Identifier: (GPL-2.0 OR BSD-3-Clause)
"""Messages of RPC-over-RDMA, versions 1 and 2, from decoded fields to bytes.

The fields are those of vectors.json, see README.md. This encoder shares nothing
with the kernel module: the vectors are compared with what it makes of their
fields.
"""

import struct

TYPES = {
    "RDMA2_MSG": 0, "RDMA2_NOMSG": 1, "RDMA2_ERROR": 4, "RDMA2_CONNPROP": 5,
    "RDMA2_X_REQPROP": 0xFFFFFF02, "RDMA2_X_RESPROP": 0xFFFFFF03,
    "RDMA2_X_UPDPROP": 0xFFFFFF04,
    "RDMA_MSG": 0, "RDMA_NOMSG": 1, "RDMA_ERROR": 4,
}
ERRORS = {
    "RDMA2_ERR_VERS": 1, "RDMA2_ERR_BAD_XDR": 2, "RDMA2_ERR_INVAL_HTYPE": 3,
    "RDMA2_ERR_READ_CHUNKS": 4, "RDMA2_ERR_WRITE_CHUNKS": 5,
    "RDMA2_ERR_SEGMENTS": 6, "RDMA2_ERR_WRITE_RESOURCE": 7,
    "RDMA2_ERR_REPLY_RESOURCE": 8, "RDMA2_ERR_SYSTEM": 9,
    "ERR_VERS": 1, "ERR_CHUNK": 2,
}
PROPERTIES = {"RBSIZ": 1, "BRS": 2, "X_NOCHG": 0xFFFFFF01, "X_IDENTITY": 0xFFFFFF05}
RVREQSUP = {"NONE": 0, "INLINE": 1, "GENL": 2}
ERROR_ARGS = ("rdma_vers_low", "rdma_vers_high", "rdma_max_chunks",
              "rdma_max_segments", "rdma_chunk_index", "rdma_length_needed")


def words(*values):
    """32-bit words in the order of the network."""
    return b"".join(struct.pack(">I", v) for v in values)


def segment(s):
    return words(s["rdma_handle"], s["rdma_length"]) + \
        struct.pack(">Q", int(s["rdma_offset"], 16))


def counted(segments):
    return words(len(segments)) + b"".join(segment(s) for s in segments)


def chunk_lists(m):
    out = b""
    for entry in m["rdma_reads"]:
        out += words(1, entry["rdma_position"]) + segment(entry)
    out += words(0)
    for chunk in m["rdma_writes"]:
        out += words(1) + counted(chunk)
    out += words(0)
    if m["rdma_reply"] is None:
        return out + words(0)
    return out + words(1) + counted(m["rdma_reply"])


def subset(values):
    return words(len(values), *values)


def property_data(p):
    if "data" in p:
        return bytes.fromhex(p["data"])
    value = p["value"]
    if p["name"] == "X_NOCHG":
        return subset(value)
    return words(RVREQSUP[value] if p["name"] == "BRS" else value)


def property_set(props):
    out = words(len(props))
    for p in props:
        data = property_data(p)
        length = p.get("rdma_data_len", len(data))
        which = PROPERTIES.get(p.get("name"), p.get("rdma_which"))
        out += words(which, length) + data + bytes(-len(data) % 4)
    return out


def error(m):
    args = [m[a] for a in ERROR_ARGS if a in m]
    return words(ERRORS[m["rdma_err"]], *args)


def message(m):
    """The bytes of a message, from its fields."""
    out = words(m["rdma_xid"], m["rdma_vers"], m["rdma_credit"],
                TYPES[m["rdma_htype"]])
    if "rdma_flags" in m:
        out += words(m["rdma_flags"])
    if "rdma_inv_handle" in m:
        out += words(m["rdma_inv_handle"])
    if "rdma_reads" in m:
        out += chunk_lists(m)
    if "rdma_err" in m:
        out += error(m)
    for field in ("optrespr_done", "optrespr_rej"):
        if field in m:
            out += subset(m[field])
    for field in ("rdma_props", "optreqpr_want", "optrespr_other",
                  "optupdpr_now"):
        if field in m:
            out += property_set(m[field])
    return out + bytes.fromhex(m.get("rpc_message", ""))


def cm_private(c):
    """The RDMA-CM private data of RFC 8797."""
    return words(0xF6AB0E18) + bytes((1, int(c["remote_invalidation"]),
                                      c["send_size"] // 1024 - 1,
                                      c["receive_size"] // 1024 - 1))


def encode(vector):
    """The bytes of an entry of vectors.json, from its fields."""
    if "message" in vector:
        return message(vector["message"])
    if "cm_private" in vector:
        return cm_private(vector["cm_private"])
    return subset(vector["subset"])
