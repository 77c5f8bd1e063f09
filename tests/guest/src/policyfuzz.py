#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""policyfuzz.py SEED N: sends N random requests about the policy table to the netlink
family rpcrdma2, and says of each beforehand whether it is to be refused: it knows the
specification, not the module. The table is compared with what it should be by then.
Then N more that are damaged at random, of all commands; whatever they have made of the
table must be entries that are allowed. The table is emptied before and afterwards. The
same SEED sends the same.

Exit status: 0; 1: the module's opinion is another, or something else is wrong.
"""

import os
import random
import socket
import struct
import sys

YNL = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ynl")
sys.path.insert(0, YNL)
from lib.nlspec import SpecFamily       # noqa: E402 pylint: disable=wrong-import-position

SPEC = SpecFamily(YNL + "/specs/rpcrdma2.yaml", schema_path="")
NUMBER = {name: attr.value for name, attr in SPEC.attr_sets["policy"].items()}
PATH_ADDRESSES = SPEC.attr_sets["path"]["addresses"].value
NAME = {number: name for name, number in NUMBER.items()}
GET, SET, DEL = (SPEC.msgs["policy-" + verb].req_value for verb in ("get", "set", "del"))
LAST_COMMAND = max(op.req_value or op.rsp_value for op in SPEC.msgs.values())

REQUEST, ACK, DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
NESTED, NET_BYTEORDER, TYPE_MASK = 0x8000, 0x4000, 0x3fff

U32 = range(1 << 32)
# Each attribute: its length, and the values of a client (role 0) and of a server (1)
RULES = {
    "role": (4, range(2), range(2)),
    "addr4": (4, U32, U32),
    "addr6": (16, U32, U32),
    "prefix-length": (1, range(129), range(129)),
    "port": (2, range(1 << 16), range(1 << 16)),
    "versions": (4, range(3), range(3)),
    "recv-size": (4, range(4096, 65537), range(4096, 262145)),
    "send-size": (4, range(4096, 65537), range(0)),
    "credits": (4, range(4, 4097), range(1, 1025)),
    "remote-invalidation": (4, range(2), range(2)),
    "property-change": (4, range(2), range(2)),
    "recv-max": (4, range(4096, 262145), range(4096, 262145)),
    "tos": (4, range(256), range(0)),
    "reconnect-min": (4, range(3601), range(0)),
    "reconnect-max": (4, range(3601), range(0)),
    "fail-after": (4, range(86401), range(0)),
    "trust-paths": (4, range(2), range(0)),
    "check": (0, range(1), range(1)),
}
KEYS = ("role", "addr4", "addr6", "prefix-length", "port")
NUMBERS_OF = [name for name in RULES if name not in KEYS + ("check",)]
VALUES = NUMBERS_OF + ["addresses"]
PATHS_MAX = 16
MAPPED = bytes(10) + b"\xff\xff"


def wrong(text):
    sys.exit("policyfuzz: " + text)


# ---- messages ----

class Family:
    """The socket, and the number of the family"""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.socket.setsockopt(270, 10, 1)      # SOL_NETLINK, NETLINK_CAP_ACK
        self.socket.settimeout(30)
        self.sequence = 0
        self.number = 16                        # GENL_ID_CTRL, CTRL_CMD_GETFAMILY
        error, answers = self.ask(self.message(3, [(2, SPEC.name.encode() + b"\0")]))
        if error:
            wrong("there is no family")
        self.number = struct.unpack("H", dict(attributes(answers[0]))[1])[0]

    def message(self, command, attrs, flags=0):
        body = bytearray(struct.pack("BBH", command, 1, 0))
        for number, data in attrs:
            body += struct.pack("HH", 4 + len(data), number) + data
            body += bytes(-len(body) % 4)
        return bytearray(struct.pack("IHHII", 16 + len(body), self.number,
                                     REQUEST | ACK | flags, 0, 0)) + body

    def ask(self, message):
        """What the kernel answers, an errno or 0, and the messages before that"""
        self.sequence += 1
        struct.pack_into("I", message, 8, self.sequence)
        self.socket.send(message)
        answers = []
        while True:
            data = self.socket.recv(1 << 16)
            while data:
                length, kind, _, sequence, _ = struct.unpack_from("IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if sequence != self.sequence:
                    continue
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    return -struct.unpack_from("i", body)[0], answers
                answers.append(body)


def attributes(body):
    """Of an answer: number, data"""
    at = 4
    while at < len(body):
        length, number = struct.unpack_from("HH", body, at)
        yield number & TYPE_MASK, body[at + 4:at + length]
        at += (length + 3) & ~3


def number_of(data):
    return int.from_bytes(data[:4], sys.byteorder)


# ---- what the specification says ----

def is_path(data):
    """An address of the server, and one of the client's of the same family, or none"""
    server, local = data[:16], data[16:]
    return any(server) and (not any(local) or
                            (server[:12] == MAPPED) == (local[:12] == MAPPED))


def allowed(command, number, data):
    """One attribute, whatever the role"""
    name = NAME.get(number & TYPE_MASK)
    if name is None or number & NESTED:
        return False
    if command != SET and (name not in KEYS or
                           (name == "prefix-length" and command == GET)):
        return False
    if name == "addresses":
        return len(data) == 32
    if name not in RULES:
        return False
    length, *ranges = RULES[name]
    return len(data) == length and any(number_of(data) in r for r in ranges)


def key_of(attrs):
    """Which peers: role, address, prefix length, port. None: that is no key."""
    if "role" not in attrs or ("addr4" in attrs and "addr6" in attrs):
        return None
    address = attrs.get("addr4", attrs.get("addr6", b""))
    bits = 8 * len(address)
    prefix = number_of(attrs["prefix-length"]) if "prefix-length" in attrs else bits
    if prefix > bits or int.from_bytes(address, "big") & ((1 << (bits - prefix)) - 1):
        return None
    return (number_of(attrs["role"]), address, prefix, number_of(attrs.get("port", b"")))


def values_of(attrs, paths, key):
    """Those of an entry; None: some are not for this role or exclude each other, or there
    are none."""
    values = {name: number_of(attrs[name]) for name in NUMBERS_OF if name in attrs}
    role = number_of(attrs["role"])
    if paths:
        if (role or not key[1] or key[2] != 8 * len(key[1]) or len(paths) > PATHS_MAX or
                not all(map(is_path, paths))):
            return None
        values["addresses"] = paths
    if not all(value in RULES[name][1 + role] for name, value in values.items()
               if name in RULES):
        return None
    if values.get("reconnect-max") and values["reconnect-max"] < values.get("reconnect-min", 0):
        return None
    return values or None


def expected(table, command, attrs, trailing):
    """Whether it is to be done; does so to the table."""
    if trailing or not all(allowed(command, *a) for a in attrs):
        return False
    # The last attribute of a type counts, but each path.
    named = {NAME[number & TYPE_MASK]: data for number, data in attrs}
    key = key_of(named)
    if key is None:
        return False
    if command == DEL:
        return table.pop(key, None) is not None
    if command == SET:
        values = values_of(named, [data for number, data in attrs
                                   if NAME[number & TYPE_MASK] == "addresses"], key)
        if values is None:
            return False
        if "check" not in named:
            table[key] = values
    return True


# ---- requests ----

NUMBERS = (0, 1, 2, 3, 4, 1024, 1025, 4095, 4096, 4097, 65536, 65537, 262144, 262145,
           (1 << 31) - 1, (1 << 32) - 1)


def rare(one_in):
    return random.randrange(one_in) == 0


def random_data(name):
    """Few addresses and ports, so that entries are met again"""
    number = random.choice(NUMBERS)
    if name in ("addr4", "addr6"):
        data = bytearray(32)
        data[0] = random.choice((10, 11))
        if rare(3):
            data[random.randrange(16)] |= 1 << random.randrange(8)
        return data
    if name == "addresses":
        data = bytearray(32)
        for at in (0, 16):
            if not rare(3):
                data[at:at + 12] = random.choice((MAPPED, bytes([10]) + bytes(11)))
                data[at + 15] = random.randrange(6)
        return data
    if name in ("role", "versions", "remote-invalidation", "property-change",
                "trust-paths"):
        number = number if rare(8) else random.randrange(2)
    elif name == "prefix-length":
        number = random.randrange(256) if rare(8) else 8 * random.randrange(6)
    elif name == "port":
        number = number if rare(3) else 20049
    return bytearray(number.to_bytes(4, sys.byteorder) + bytes(28))


def random_attribute(number):
    name = NAME.get(number)
    data = random_data(name)
    length = RULES[name][0] if name in RULES else 32 if name else random.randrange(9)
    if rare(60):
        length = random.randrange(len(data))
    number |= NESTED * rare(60) | NET_BYTEORDER * rare(60)
    return number, bytes(data[:length])


def random_request():
    """Most have a role and an address, and a value if the request is about one."""
    command = random.choice((SET, SET, DEL, GET))
    names = [] if rare(30) else ["role"]
    if not rare(6):
        names.append(random.choice(("addr4", "addr6")))
    if command != GET and rare(2):
        names.append("prefix-length")
    if command == SET:
        names += [random.choice(VALUES)] * (random.randrange(20) if rare(9) else 1)
    numbers = [NUMBER[name] for name in names]
    for _ in range(random.randrange(3)):
        if rare(2):
            numbers.append(random.randrange(40) if rare(40)
                           else random.choice(list(NUMBER.values())))
    trailing = bytes(1 + random.randrange(3)) if rare(60) else b""
    return command, [random_attribute(n) for n in numbers], trailing


def build(family, command, attrs, trailing):
    message = family.message(command, attrs) + trailing
    struct.pack_into("I", message, 0, len(message))
    return message


def damage(message):
    """The length is true, or the kernel would not answer. Never another family."""
    if rare(3):
        message[16] = random.randrange(LAST_COMMAND + 3)
    if rare(6):
        struct.pack_into("H", message, 6, struct.unpack_from("H", message, 6)[0] | DUMP)
    for _ in range(random.randrange(4)):
        if len(message) > 20:
            message[random.randrange(20, len(message))] = random.choice(
                (random.randrange(256), 1 << random.randrange(8)))
    if rare(8):
        del message[16 + random.randrange(len(message) - 16):]
        struct.pack_into("I", message, 0, len(message))


# ---- the table ----

def as_set(number, data):
    """A path has more than is set."""
    if NAME.get(number) == "path":
        return NUMBER["addresses"], dict(attributes(bytes(4) + data))[PATH_ADDRESSES]
    return number, data


def dump(family):
    """What is told of an entry must be what is allowed to be said."""
    error, answers = family.ask(family.message(GET, [], DUMP))
    if error:
        wrong("dump: " + os.strerror(error))
    table = {}
    for answer in answers:
        attrs = [as_set(number, data) for number, data in attributes(answer)]
        if not expected(table, SET, attrs, b""):
            wrong("an entry that is not allowed is in the table: %r" % attrs)
    if len(table) != len(answers):
        wrong("an entry is in the table twice")
    return table


def empty(family):
    for role, address, prefix, port in dump(family):
        attrs = [(NUMBER["role"], struct.pack("I", role)),
                 (NUMBER["prefix-length"], bytes([prefix])),
                 (NUMBER["port"], struct.pack("H", port))]
        if address:
            attrs.append((NUMBER["addr4" if len(address) == 4 else "addr6"], address))
        error, _ = family.ask(family.message(DEL, attrs))
        if error:
            wrong("deleting an entry: " + os.strerror(error))


def main():
    seed, n = int(sys.argv[1]), int(sys.argv[2])
    random.seed(seed)
    family = Family()
    empty(family)
    table, refused = {}, 0
    for _ in range(n):
        request = random_request()
        want = expected(table, *request)
        message = build(family, *request)
        error, _ = family.ask(message)
        refused += bool(error)
        if want != (not error):
            wrong("%srefused (%s): %s" % ("" if error else "not ", os.strerror(error),
                                          message.hex(" ")))
    if dump(family) != table:
        wrong("the table is not what it should be")
    print("done %d refused %d entries %d" % (n - refused, refused, len(table)))
    refused = 0
    for _ in range(n):
        message = build(family, *random_request())
        damage(message)
        refused += bool(family.ask(message)[0])
    empty(family)
    left = len(dump(family))
    print("damaged: done %d refused %d left %d" % (n - refused, refused, left))
    return bool(left)


if __name__ == "__main__":
    sys.exit(main())
