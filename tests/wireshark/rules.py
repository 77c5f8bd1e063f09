# SPDX-License-Identifier: GPL-2.0
"""Requirements that a capture of real traffic shows to be kept. Each function
names the ids it is about, and gets the messages of a capture in their order.

The server's addresses end in .1, the client's in .2.
"""

from tshark import LINK, fields, numbers, once, run

NAMES = [*LINK, "frame.number", "frame.len", "tcp.srcport", "tcp.dstport",
         "rpcrdma2.xid", "rpcrdma2.vers",
         "rpcrdma2.type", "rpcrdma2.flags", "rpcrdma2.flags.response",
         "rpcrdma2.credit", "rpcrdma2.credit.granted", "rpcrdma2.inv_handle",
         "rpcrdma2.invalidated", "rpcrdma2.prop.id", "rpcrdma2.call_in",
         "rpcrdma2.read.position", "rpcrdma2.read.handle",
         "rpcrdma2.read.length", "rpcrdma2.write.handle",
         "rpcrdma2.write.offset", "rpcrdma2.write.length",
         "rpcrdma2.reply.handle", "rpcrdma2.reply.offset",
         "rpcrdma2.reply.length", "rpcrdma2.reply.segments", "rpc.xid",
         "rpc.msgtyp"]
MSG, NOMSG, ERROR, CONNPROP = 0, 1, 4, 5
KNOWN_TYPES = {MSG, NOMSG, ERROR, CONNPROP, 0xFFFFFF02, 0xFFFFFF03, 0xFFFFFF04}
RBSIZ, BRS, X_NOCHG = 1, 2, 0xFFFFFF01


class Message:
    """A message with a packet of its own. answered: packets of the Calls that have
    had their Reply since the message before, and the credits with it."""

    def __init__(self, row, answered):
        def one(name):
            values = numbers(row, name)
            return values[0] if values else None
        for name in NAMES:
            if name.startswith("rpcrdma2."):
                attribute = name.split(".", 1)[1].replace(".", "_")
                values = numbers(row, name)
                setattr(self, attribute, values if name.split(".")[1] in (
                    "read", "write", "reply", "prop") else one(name))
        self.frame, self.bytes = one("frame.number"), one("frame.len")
        self.rpc_xid, self.msgtyp = one("rpc.xid"), one("rpc.msgtyp")
        self.to_server = row["ip.src"][0].endswith(".2")
        self.stream = (row["ip.src"][0], *row["tcp.srcport"],
                       *row["tcp.dstport"], *row["infiniband.bth.destqp"][:1])
        # A direction flag in version 2, what RPC says in version 1
        self.reply = bool(self.flags_response) if self.vers == 2 else \
            self.call_in is not None
        self.rpc = self.type in (MSG, NOMSG)
        self.answered = answered


def messages(path):
    """Those that share a packet with others cannot be told apart: left out, and
    must be few. What they answer is with the next one."""
    rows = once(fields(path, NAMES, "-Y", "rpcrdma2.xid"))
    found, answered = [], []
    for r in rows:
        credit = max(numbers(r, "rpcrdma2.credit"))
        answered += [(call, credit) for call in numbers(r, "rpcrdma2.call_in")]
        if len(r["rpcrdma2.xid"]) == 1:
            found.append(Message(r, answered))
            answered = []
    assert len(found) > 0.9 * len(rows) > 1000, (len(found), len(rows))
    return found


def streams(all_messages):
    by = {}
    for m in all_messages:
        by.setdefault(m.stream, []).append(m)
    return by.values()


def calls(all_messages):
    """Replies with their Calls."""
    by_frame = {m.frame: m for m in all_messages}
    return [(m, by_frame[m.call_in]) for m in all_messages
            if m.rpc and m.reply and m.call_in in by_frame]


def one_version(ms):
    """HDR-3 HDR-11 VER-22"""
    for s in streams(ms):
        s = [m for m in s if m.type != ERROR]
        # A refused client has begun with version 2.
        if s and s[0].to_server and s[0].type == CONNPROP and \
                s[-1].vers == 1:
            s = s[1:]
        assert len({m.vers for m in s}) <= 1, \
            "versions on one connection, from packet %d" % s[0].frame


def flags(ms):
    """FLG-2 FLG-4"""
    v2 = [m for m in ms if m.vers == 2 and m.flags is not None]
    assert v2
    for m in v2:
        assert m.flags in (0, 1), "packet %d: flags" % m.frame
        if m.rpc and m.msgtyp is not None:
            assert m.flags == m.msgtyp, "packet %d: RESPONSE" % m.frame


def same_xid(ms):
    """HDR-6"""
    both = [m for m in ms if m.rpc_xid is not None]
    assert len(both) > 1000
    for m in both:
        assert m.xid == m.rpc_xid, "packet %d: XIDs" % m.frame


def repeated_chunks(ms):
    """CHK-8 CHK-14"""
    seen = 0
    for reply, call in calls(ms):
        assert not reply.read_handle, "packet %d: Read list" % reply.frame
        for part in ("write_handle", "write_offset", "reply_handle",
                     "reply_offset"):
            assert getattr(reply, part) == getattr(call, part), \
                "packet %d: %s" % (reply.frame, part)
        for part in ("write_length", "reply_length"):
            pairs = list(zip(getattr(reply, part), getattr(call, part)))
            assert all(a <= b for a, b in pairs), \
                "packet %d: %s" % (reply.frame, part)
            seen += len(pairs)
    assert seen > 50, seen


def inline_if_it_fits(ms):
    """LNG-6"""
    for vers, want in ((2, MSG), (1, NOMSG)):
        short = [reply for reply, call in calls(ms)
                 if call.vers == vers and call.reply_segments and
                 (reply.type == MSG or sum(reply.reply_length) < 500)]
        assert short, "version %d: no short Reply" % vers
        for m in short:
            assert m.type == want, "packet %d: type" % m.frame


def no_padding(ms):
    """LNG-10 LNG-11 LNG-14"""
    read = [sum(m.read_length) for m in ms
            if m.rpc and not m.reply and m.read_length and
            0 not in m.read_position]
    write = [sum(m.write_length) for m in ms if m.rpc and not m.reply and
             m.write_length]
    # Lengths of the test's WRITEs and READs are odd.
    assert any(n % 4 for n in read), "Read chunks: %s" % read[:10]
    assert any(n % 4 for n in write), "Write chunks: %s" % write[:10]


def invalidation(ms):
    """RINV-5 RINV-6 RINV-7 RINV-10 ERR-4"""
    used = 0
    for reply, call in calls(ms):
        if reply.vers != 2:
            continue
        assert reply.invalidated == (call.inv_handle or None), \
            "packet %d: invalidates %s, asked for %s" % (
                reply.frame, reply.invalidated, call.inv_handle)
        assert reply.inv_handle == 0, "packet %d: handle" % reply.frame
        used += reply.invalidated is not None
    assert used > 20, used
    for m in ms:
        if not (m.rpc and m.reply):
            assert m.invalidated is None, "packet %d" % m.frame


def connprop_first(ms):
    """CONN-3 CONN-5 PROP-19 VER-1 VER-3 VER-5"""
    found = 0
    for s in streams(ms):
        if not any(m.vers == 2 for m in s):
            continue
        if s[0].type == ERROR:
            continue
        assert s[0].type == CONNPROP, "packet %d: type" % s[0].frame
        assert s[0].reply == (not s[0].to_server), "packet %d" % s[0].frame
        assert s[0].bytes < 1024, "packet %d: length" % s[0].frame
        assert sum(m.type == CONNPROP for m in s) == 1, "more than one"
        assert {RBSIZ, BRS} <= set(s[0].prop_id) <= {RBSIZ, BRS, X_NOCHG}, \
            "packet %d: properties" % s[0].frame
        found += 1
    assert found >= 4, found


def credits_kept(ms):
    """CRED-3 CRED-19"""
    for m in ms:
        assert m.type in KNOWN_TYPES, "packet %d: type" % m.frame
        assert 0 < m.credit <= 65535, "packet %d: credits" % m.frame
    # Calls of the client, by connection: a Reply tells which one it is of.
    open_calls, grant = {}, {}
    by_frame = {m.frame: m for m in ms}
    most = 0
    for m in ms:
        for frame, credit in m.answered:
            call = by_frame.get(frame)
            if not call or not call.to_server:
                continue
            open_calls.setdefault(call.stream, set()).discard(call.xid)
            # Packets cross: what was granted once may still be used.
            grant[call.stream] = max(grant.get(call.stream, 1), credit)
        if m.rpc and not m.reply and m.to_server:
            s = open_calls.setdefault(m.stream, set())
            s.add(m.xid)
            most = max(most, len(s))
            assert len(s) <= grant.get(m.stream, 1), \
                "packet %d: %d Calls" % (m.frame, len(s))
    assert most > 1, "never more than one Call at once"


def both_directions(ms):
    """REV-1"""
    answered = [reply for reply, call in calls(ms)
                if not call.to_server and call.vers == 2]
    assert answered, "no Call of the server that was answered"


def long_messages(ms):
    """MSG-5"""
    long = [(m.vers, m.reply) for m in ms if m.type == NOMSG]
    for want in ((1, False), (1, True), (2, False), (2, True)):
        assert want in long, "none of version %d, %s" % (
            want[0], "Reply" if want[1] else "Call")


def private_data(path):
    """CM-2"""
    for kind in ("req", "rep"):
        out = run(path, "-Y", "(iwarp_mpa.%s || infiniband.cm.%s) && "
                  "frame contains f6:ab:0e:18" % (kind, kind))
        assert out, "no private data in " + kind


RULES = [one_version, flags, same_xid, repeated_chunks, inline_if_it_fits,
         no_padding, invalidation, connprop_first, credits_kept,
         both_directions, long_messages]
