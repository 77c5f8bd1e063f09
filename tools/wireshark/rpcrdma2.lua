-- SPDX-License-Identifier: GPL-2.0
--
-- Wireshark: RPC-over-RDMA versions 1 and 2, over RoCE and iWARP. Use, fields and
-- limits are in README.md beside this file.
--
-- A message is found by its first words. The RPC message is put together from
-- what was sent with the header and what RDMA Read and Write have moved, and goes
-- to Wireshark's dissector for RPC: a Call in the packet that completed it, which
-- is the last Read Response if there are Read chunks.
--
-- "Stream" is one direction of one connection. What is remembered of streams is
-- learned when the packets of the capture are seen for the first time, in their
-- order; what a packet has shown then is kept in "shown", since Wireshark may ask
-- for it again in any order. What the layers below have found is there only if
-- they were asked for fields; a packet of which it was not is as good as not seen.

local rpcrdma2 = Proto("rpcrdma2", "RPC-over-RDMA Version 2")

---------------------------------------------------------------------- names

local TYPE = {
	[0] = "MSG", [1] = "NOMSG", [2] = "MSGP", [3] = "DONE", [4] = "ERROR",
	[5] = "CONNPROP", [0xffffff02] = "REQPROP", [0xffffff03] = "RESPROP",
	[0xffffff04] = "UPDPROP",
}
local ERROR1 = { [1] = "ERR_VERS", [2] = "ERR_CHUNK" }
local ERROR2 = {
	[1] = "VERS", [2] = "BAD_XDR", [3] = "INVAL_HTYPE", [4] = "READ_CHUNKS",
	[5] = "WRITE_CHUNKS", [6] = "SEGMENTS", [7] = "WRITE_RESOURCE",
	[8] = "REPLY_RESOURCE", [9] = "SYSTEM",
}
local PROPERTY = {
	[1] = "Receive Buffer Size", [2] = "Reverse Request Support",
	[0xffffff01] = "Properties that will not change",
	[0xffffff05] = "Identity of the server",
}
local SUPPORT = { [0] = "NONE", [1] = "INLINE", [2] = "GENL" }

local MSG, NOMSG, MSGP, ERROR, CONNPROP = 0, 1, 2, 4, 5
local REQPROP, RESPROP, UPDPROP = 0xffffff02, 0xffffff03, 0xffffff04

--------------------------------------------------------------------- fields

local f = {}
local function field(name, kind, text, ...)
	f[name] = ProtoField[kind]("rpcrdma2." .. name, text, ...)
end

field("xid", "uint32", "XID", base.HEX)
field("vers", "uint32", "Version", base.DEC)
field("credit", "uint32", "Credits", base.DEC)
field("credit.requested", "uint32", "Credits requested", base.DEC)
field("credit.granted", "uint32", "Credits granted", base.DEC)
field("type", "uint32", "Type", base.DEC_HEX, TYPE)
field("flags", "uint32", "Flags", base.HEX)
field("flags.response", "bool", "RESPONSE", 32, { "set", "clear" }, 0x00000001)
field("flags.reserved", "uint32", "Reserved", base.HEX, nil, 0xfffffffe)
field("inv_handle", "uint32", "Handle that may be invalidated", base.HEX)
for _, list in ipairs({ "read", "write", "reply" }) do
	field(list .. ".handle", "uint32", "Handle", base.HEX)
	field(list .. ".length", "uint32", "Length", base.DEC)
	field(list .. ".offset", "uint64", "Offset", base.HEX)
end
field("read", "none", "Read list")
field("read.count", "uint32", "Segments of the Read list", base.DEC)
field("read.position", "uint32", "Position", base.DEC)
field("write", "none", "Write list")
field("write.count", "uint32", "Chunks of the Write list", base.DEC)
field("write.segments", "uint32", "Segments", base.DEC)
field("reply", "none", "Reply chunk")
field("reply.segments", "uint32", "Segments", base.DEC)
field("msgp.align", "uint32", "Alignment", base.DEC)
field("msgp.thresh", "uint32", "Threshold", base.DEC)
field("err", "uint32", "Error", base.DEC)
field("err.vers_low", "uint32", "Lowest version", base.DEC)
field("err.vers_high", "uint32", "Highest version", base.DEC)
field("err.max_chunks", "uint32", "Most chunks", base.DEC)
field("err.max_segments", "uint32", "Most segments", base.DEC)
field("err.chunk_index", "uint32", "Write chunk, from 1", base.DEC)
field("err.length_needed", "uint32", "Length needed", base.DEC)
field("prop", "none", "Property")
field("prop.count", "uint32", "Properties", base.DEC)
field("prop.id", "uint32", "Property", base.DEC_HEX, PROPERTY)
field("prop.length", "uint32", "Length of the value", base.DEC)
field("prop.data", "bytes", "Value")
field("prop.rbsiz", "uint32", "Receive Buffer Size", base.DEC)
field("prop.brs", "uint32", "Reverse Request Support", base.DEC, SUPPORT)
field("prop.nochg", "uint32", "Entries that will not change", base.HEX)
field("prop.identity", "bytes", "Identity of the server")
field("change.done", "uint32", "Entries done", base.HEX)
field("change.rejected", "uint32", "Entries rejected", base.HEX)
field("invalidated", "uint32", "Invalidated handle", base.HEX)
field("call_in", "framenum", "Call in", base.NONE, frametype.REQUEST)
field("reply_in", "framenum", "Reply in", base.NONE, frametype.RESPONSE)
field("time", "double", "Seconds since the Call")
field("header_in", "framenum", "Header in", base.NONE)
field("payload_in", "framenum", "RPC message in", base.NONE)
field("rdma_read", "uint32", "Bytes read by RDMA", base.DEC)
field("rdma_written", "uint32", "Bytes written by RDMA", base.DEC)
rpcrdma2.fields = f

local x_malformed = ProtoExpert.new("rpcrdma2.malformed",
	"The header cannot be decoded", expert.group.MALFORMED, expert.severity.ERROR)
local x_missing = ProtoExpert.new("rpcrdma2.missing",
	"Not all of the RPC message is in the capture", expert.group.REASSEMBLE,
	expert.severity.NOTE)
local x_error = ProtoExpert.new("rpcrdma2.error",
	"Transport error", expert.group.RESPONSE_CODE, expert.severity.NOTE)
rpcrdma2.experts = { x_malformed, x_missing, x_error }

-- What Wireshark's dissectors of the layers below have found
local below = {
	opcode = Field.new("infiniband.bth.opcode"),
	destqp = Field.new("infiniband.bth.destqp"),
	psn = Field.new("infiniband.bth.psn"),
	padcnt = Field.new("infiniband.bth.padcnt"),
	va = Field.new("infiniband.reth.va"),
	r_key = Field.new("infiniband.reth.r_key"),
	dmalen = Field.new("infiniband.reth.dmalen"),
	ieth = Field.new("infiniband.ieth"),
	rdmap = Field.new("iwarp_rdma.opcode"),
	last = Field.new("iwarp_ddp.last_flag"),
	stag = Field.new("iwarp_ddp.stag"),
	offset = Field.new("iwarp_ddp.tagged_offset"),
	msn = Field.new("iwarp_ddp.msn"),
	mo = Field.new("iwarp_ddp.mo"),
	inval = Field.new("iwarp_rdma.inval_stag"),
	sinkstag = Field.new("iwarp_rdma.sinkstag"),
	sinkto = Field.new("iwarp_rdma.sinkto"),
	size = Field.new("iwarp_rdma.rdmardsz"),
	srcstag = Field.new("iwarp_rdma.srcstag"),
	srcto = Field.new("iwarp_rdma.srcto"),
}

-- Several PDUs may share a frame: the last value is of the one at hand.
local function info(name)
	local all = { below[name]() }
	return all[#all]
end

local function value(name)
	local i = info(name)
	return i and i.value
end

-- Offsets have 64 bits, numbers of Lua 5.2 have 53.
local function offset_of(v)
	return { high = v:higher(), low = v:lower() }
end

local function minus(a, b)
	return (a.high - b.high) * 0x100000000 + (a.low - b.low)
end

local function plus(a, n)
	local low = a.low + n
	local carry = math.floor(low / 0x100000000)
	return { high = a.high + carry, low = low - carry * 0x100000000 }
end

---------------------------------------------------------------------- state

local streams, calls, reads, shown, seen

function rpcrdma2.init()
	streams = {}	-- by name: memory, pending Calls, a Send that goes on
	calls = {}	-- by stream, turned round, and XID
	reads = {}	-- Read Requests
	shown = {}	-- by packet: what was assembled in it
	seen = {}	-- packets of which all has been learned
end

-- Is there something to be learned from this packet? True once.
local function first_time(key)
	local first = not seen[key]
	seen[key] = true
	return first
end

local function stream(name)
	local s = streams[name]
	if not s then
		s = { memory = {}, pending = {}, ours = false }
		streams[name] = s
	end
	return s
end

-------------------------------------------------- memory as seen in the capture

-- Data moved to or from (handle, offset)
local function remember(s, handle, offset, data)
	local pieces = s.memory[handle]
	if not pieces then
		pieces = { base = offset }
		s.memory[handle] = pieces
	end
	pieces[#pieces + 1] = { at = minus(offset, pieces.base), data = data }
end

-- All of a segment's bytes, or nil
local function recall(s, seg)
	if seg.length == 0 then
		return ""
	end
	local pieces = s.memory[seg.handle]
	if not pieces then
		return nil
	end
	local at, left, out = minus(seg.offset, pieces.base), seg.length, {}
	table.sort(pieces, function(a, b) return a.at < b.at end)
	for _, p in ipairs(pieces) do
		if p.at <= at and p.at + #p.data > at then
			local part = p.data:sub(at - p.at + 1, at - p.at + left)
			out[#out + 1] = part
			at = at + #part
			left = left - #part
			if left == 0 then
				return table.concat(out)
			end
		end
	end
	return nil
end

local function recall_chunk(s, segments)
	local out = {}
	for i, seg in ipairs(segments) do
		out[i] = recall(s, seg)
		if not out[i] then
			return nil
		end
	end
	return table.concat(out)
end

local function forget(s, segments)
	for _, seg in ipairs(segments) do
		s.memory[seg.handle] = nil
	end
end

------------------------------------------------------------ RPC messages

local function pad(data)
	return data .. ("\0"):rep(-#data % 4)
end

local function word_at(data, i)
	local a, b, c, d = data:byte(i, i + 3)
	return ((a * 256 + b) * 256 + c) * 256 + d
end

-- A Call's Read chunks by Position, in the order of the list
local function read_chunks(h)
	local chunks, by = {}, {}
	for _, e in ipairs(h.reads) do
		if not by[e.position] then
			by[e.position] = { position = e.position, segments = {} }
			chunks[#chunks + 1] = by[e.position]
		end
		table.insert(by[e.position].segments, e)
	end
	table.sort(chunks, function(a, b) return a.position < b.position end)
	return chunks
end

-- The RPC message of a Call, or nil as long as something has not been read. A
-- Position counts bytes of the message with all chunks in their places.
local function assemble_call(s, h)
	local message, moved = h.inline, 0
	for _, c in ipairs(read_chunks(h)) do
		local data = recall_chunk(s, c.segments)
		if not data then
			return nil
		end
		moved = moved + #data
		if c.position == 0 then
			message = data
		else
			message = message:sub(1, c.position) .. pad(data) ..
				message:sub(c.position + 1)
		end
	end
	return message, moved
end

-- Where the data of a Write chunk belong: behind the word that is their length,
-- which the header does not say. In results of READ the word before is a boolean;
-- the last such place is the most likely one.
local function place_of(message, length)
	local any
	for i = #message - 3, 29, -4 do
		if word_at(message, i) == length then
			if word_at(message, i - 4) <= 1 then
				return i + 3
			end
			any = any or i + 3
		end
	end
	return any
end

-- The RPC message of a Reply, or nil if it is not all in the capture
local function assemble_reply(s, h)
	local message, moved = h.inline, 0
	if h.type == NOMSG then
		message = h.reply and recall_chunk(s, h.reply)
		moved = message and #message or 0
	end
	for _, chunk in ipairs(h.writes) do
		local data = recall_chunk(s, chunk)
		if not data or not message then
			return nil
		end
		local at = #data > 0 and place_of(message, #data)
		if at then
			message = message:sub(1, at) .. pad(data) ..
				message:sub(at + 1)
		end
		moved = moved + #data
	end
	return message, moved
end

local function forget_reply(s, h)
	for _, chunk in ipairs(h.writes) do
		forget(s, chunk)
	end
	forget(s, h.reply or {})
end

local to_rpc = Dissector.get("rpc")

-- Wireshark finds the Call of a Reply by addresses and ports. Of a queue pair's
-- packets it knows one number only, that of the receiver's end, so both messages
-- get the one that the Call was sent to.
local function give_to_rpc(message, qp, pinfo, tree)
	local tvb = ByteArray.new(message, true):tvb("RPC message")
	local src, dst = pinfo.src_port, pinfo.dst_port

	if qp then
		pinfo.src_port = qp
		pinfo.dst_port = qp
	end
	-- What is wrong with the RPC message has been shown when this returns.
	pcall(to_rpc.call, to_rpc, tvb, pinfo, tree)
	if qp then
		pinfo.src_port = src
		pinfo.dst_port = dst
	end
end

------------------------------------------------------------ header, decoding

-- A reader that stops at the end: every get returns nil from there on.
local Reader = {}
Reader.__index = Reader

local function reader(tvb)
	return setmetatable({ tvb = tvb, at = 0, len = tvb:len() }, Reader)
end

function Reader:range(n)
	if self.failed or self.at + n > self.len then
		self.failed = true
		return nil
	end
	local r = self.tvb(self.at, n)
	self.at = self.at + n
	return r
end

function Reader:word(tree, name)
	local r = self:range(4)
	if r and tree and name then
		return r:uint(), tree:add(f[name], r)
	end
	return r and r:uint()
end

-- One more entry? nil if it is neither yes nor no.
function Reader:more()
	local v = self:word()
	if v and v > 1 then
		self.failed = true
	end
	return v == 1 and not self.failed
end

function Reader:segment(tree, list)
	local seg = {}
	seg.handle = self:word(tree, list .. ".handle")
	seg.length = self:word(tree, list .. ".length")
	local r = self:range(8)
	if r then
		tree:add(f[list .. ".offset"], r)
		seg.offset = offset_of(r:uint64())
	end
	return seg
end

function Reader:segments(tree, list)
	local out, n = {}, self:word(tree, list .. ".segments")
	while n and #out < n and not self.failed do
		local seg = self:segment(tree, list)
		if not self.failed then
			out[#out + 1] = seg
		end
	end
	return out
end

local function list_tree(r, tree, name)
	return tree:add(f[name], r.tvb(r.at, math.min(4, r.len - r.at)))
end

local function finish(item, r, from, text)
	item:set_len(r.at - from)
	item:append_text(text)
end

local function decode_lists(r, tree, h)
	h.reads, h.writes = {}, {}
	local from, item = r.at, list_tree(r, tree, "read")
	while r:more() do
		local position = r:word(item, "read.position")
		local seg = r:segment(item, "read")
		if not r.failed then
			seg.position = position
			h.reads[#h.reads + 1] = seg
		end
	end
	finish(item, r, from, ": " .. #h.reads)
	item:add(f["read.count"], #h.reads):set_generated()
	if r.failed then
		return
	end

	from, item = r.at, list_tree(r, tree, "write")
	while r:more() do
		h.writes[#h.writes + 1] = r:segments(item, "write")
	end
	finish(item, r, from, ": " .. #h.writes)
	item:add(f["write.count"], #h.writes):set_generated()
	if r.failed then
		return
	end

	from, item = r.at, list_tree(r, tree, "reply")
	if r:more() then
		h.reply = r:segments(item, "reply")
	end
	finish(item, r, from, h.reply and "" or ": none")
end

local function decode_property(r, tree)
	local from = r.at
	local item = tree:add(f["prop"], r.tvb(r.at, math.min(4, r.len - r.at)))
	local id = r:word(item, "prop.id")
	local length = r:word(item, "prop.length")
	if r.failed then
		return
	end
	item:append_text(": " .. (PROPERTY[id] or string.format("unknown, %u", id)))
	local data = r:range(length)
	if data and length == 0 then
		item:append_text(id == 0xffffff05 and ", asked for" or ", default")
	elseif data and id == 0xffffff05 and length == 16 then
		item:add(f["prop.identity"], data)
		item:append_text(", " .. tostring(data:bytes()))
	elseif data and id == 1 and length == 4 then
		item:add(f["prop.rbsiz"], data)
		item:append_text(", " .. data:uint())
	elseif data and id == 2 and length == 4 then
		item:add(f["prop.brs"], data)
		item:append_text(", " .. (SUPPORT[data:uint()] or data:uint()))
	elseif data and id == 0xffffff01 and length >= 4 and length % 4 == 0 then
		for i = 4, length - 4, 4 do
			item:add(f["prop.nochg"], data(i, 4))
		end
	elseif data then
		item:add(f["prop.data"], data)
		if PROPERTY[id] then
			item:add_proto_expert_info(x_malformed,
				"Not a value of this property")
		end
	end
	r:range(-length % 4)
	item:set_len(r.at - from)
end

local function decode_properties(r, tree)
	local n = r:word(tree, "prop.count")
	local i = 0
	while n and i < n and not r.failed do
		decode_property(r, tree)
		i = i + 1
	end
end

local function decode_subset(r, tree, name)
	local n, i = r:word(), 0
	while n and i < n and not r.failed do
		r:word(tree, name)
		i = i + 1
	end
end

-- The arguments of each error
local ARGUMENTS = {
	[1] = { "err.vers_low", "err.vers_high" },
	[4] = { "err.max_chunks" }, [5] = { "err.max_chunks" },
	[6] = { "err.max_segments" },
	[7] = { "err.chunk_index", "err.length_needed" },
	[8] = { "err.length_needed" },
}

local function decode_error(r, tree, h, names)
	local item
	h.err, item = r:word(tree, "err")
	if r.failed then
		return
	end
	h.err_name = names[h.err] or tostring(h.err)
	item:append_text(" (" .. h.err_name .. ")")
	item:add_proto_expert_info(x_error, "Transport error: " .. h.err_name)
	for _, name in ipairs(names == ERROR2 and ARGUMENTS[h.err] or
			h.err == 1 and ARGUMENTS[1] or {}) do
		r:word(tree, name)
	end
end

-- The form of ERR_VERS that all versions share has no flags; that of version 2 may
-- be as long. Who refuses version 2 offers something older.
local function fixed_error(tvb, h)
	if h.type ~= ERROR then
		return false
	elseif h.vers ~= 2 then
		return true
	end
	return tvb:len() == 20 or tvb:len() == 28 and tvb(16, 4):uint() == 1 and
		tvb(20, 4):uint() < 2
end

local function take_inline(r, h)
	h.inline = h.type ~= NOMSG and r.at < r.len and
		r.tvb:raw(r.at, r.len - r.at) or ""
end

local function decode_flags(r, tree, h)
	local range = r:range(4)
	if not range then
		return
	end
	local item = tree:add(f["flags"], range)
	item:add(f["flags.response"], range)
	item:add(f["flags.reserved"], range)
	h.response = range:uint() % 2 == 1
end

-- Version 1 does not say whether a message is a Call: the RPC message does, or
-- which chunks there are.
local function direction_v1(h)
	if #h.inline >= 8 then
		return word_at(h.inline, 5) == 1
	end
	return h.reply ~= nil and #h.reads == 0
end

local BODY = {}

local function rpc_v2(r, tree, h)
	r:word(tree, "inv_handle")
	decode_lists(r, tree, h)
	take_inline(r, h)
end
BODY[MSG], BODY[NOMSG] = rpc_v2, rpc_v2
BODY[ERROR] = function(r, tree, h) decode_error(r, tree, h, ERROR2) end
BODY[CONNPROP] = function(r, tree) decode_properties(r, tree) end
BODY[REQPROP], BODY[UPDPROP] = BODY[CONNPROP], BODY[CONNPROP]
BODY[RESPROP] = function(r, tree)
	decode_subset(r, tree, "change.done")
	decode_subset(r, tree, "change.rejected")
	decode_properties(r, tree)
end

local function decode_v1(r, tree, h)
	if h.type == MSGP then
		r:word(tree, "msgp.align")
		r:word(tree, "msgp.thresh")
	end
	if h.type <= MSGP then
		decode_lists(r, tree, h)
		take_inline(r, h)
		h.response = not r.failed and direction_v1(h)
	end
end

local function decode_v2(r, tree, h)
	decode_flags(r, tree, h)
	local body = BODY[h.type]
	if body and not r.failed then
		body(r, tree, h)
	end
end

-- Adds the header to the tree and returns what it says.
local function decode(tvb, tree)
	local r, h, credit = reader(tvb), {}, nil

	h.xid = r:word(tree, "xid")
	h.vers = r:word(tree, "vers")
	h.credit, credit = r:word(tree, "credit")
	h.type = r:word(tree, "type")
	if r.failed then
		h.bad = true
		return h
	end
	if fixed_error(tvb, h) then
		h.response = true
		decode_error(r, tree, h, ERROR1)
	elseif h.vers == 1 then
		decode_v1(r, tree, h)
	elseif h.vers == 2 then
		decode_v2(r, tree, h)
	end
	if h.response ~= nil and h.type ~= ERROR then
		tree:add(f[h.response and "credit.granted" or "credit.requested"],
			tvb(8, 4)):set_generated()
		credit:append_text(h.response and " granted" or " requested")
	end
	h.bad = r.failed
	h.is_rpc = h.reads ~= nil
	h.length = r.at
	return h
end

-------------------------------------------------------------- what is ours

-- Anything of a stream that has carried a message of ours; else a message that
-- cannot be much else.
local function looks_like_us(tvb, s)
	if tvb:len() < 20 then
		return false
	elseif s.ours then
		return true
	end
	local vers, htype, word4 = tvb(4, 4):uint(), tvb(12, 4):uint(),
		tvb(16, 4):uint()
	if not TYPE[htype] then
		return false
	elseif htype == ERROR and tvb:len() <= 32 and word4 >= 1 and word4 <= 2 then
		return true
	elseif vers == 2 then
		return word4 <= 1
	end
	return vers == 1 and htype <= MSGP and tvb:len() >= 28 and word4 <= 1
end

-------------------------------------------------------------- what is shown

local function direction(h)
	if h.response == nil then
		return ""
	elseif h.is_rpc then
		return h.response and " Reply" or " Call"
	end
	return h.response and " response" or ""
end

local function show_columns(pinfo, h)
	pinfo.cols.protocol = "RPC/RDMA"
	local text = string.format("Version %u, %s%s XID 0x%x", h.vers,
		TYPE[h.type] or string.format("type %u", h.type), direction(h), h.xid)
	if h.err then
		text = text .. " " .. h.err_name
	end
	if h.bad then
		text = text .. " [malformed]"
	end
	pinfo.cols.info:set(text)
end

local function show_links(tree, links)
	for _, name in ipairs({ "call_in", "reply_in", "header_in", "payload_in",
			"rdma_read", "rdma_written", "time" }) do
		if links[name] then
			tree:add(f[name], links[name]):set_generated()
		end
	end
end

local function show_message(got, pinfo, tree, item)
	show_links(item, got.links)
	if got.message then
		give_to_rpc(got.message, got.qp, pinfo, tree)
	elseif got.missing then
		item:add_proto_expert_info(x_missing)
	end
end

--------------------------------------------------- a message seen first

local function new_call(where, pinfo, h)
	local call = {
		h = h, frame = pinfo.number, time = pinfo.abs_ts, qp = where.qp,
		links = {},
	}
	calls[where.back .. h.xid] = call
	return call
end

local function learn_call(where, pinfo, h)
	local s, call = where.stream, new_call(where, pinfo, h)
	local message, moved = assemble_call(s, h)
	if not message then
		s.pending[#s.pending + 1] = call
		return { links = call.links, missing = nil, waits = true }
	end
	if moved > 0 then
		call.links.rdma_read = moved
	end
	return { message = message, qp = where.qp, links = call.links }
end

local function learn_reply(where, pinfo, h)
	local s, call = where.stream, calls[where.name .. h.xid]
	local got = { links = {} }
	if call then
		got.qp = where.qp and call.qp
		got.links.call_in = call.frame
		got.links.time = math.floor((pinfo.abs_ts - call.time) * 1e6 + 0.5) / 1e6
		call.links.reply_in = pinfo.number
	end
	if h.is_rpc then
		local moved
		got.message, moved = assemble_reply(s, h)
		got.missing = not got.message
		if moved and moved > 0 then
			got.links.rdma_written = moved
		end
		forget_reply(s, h)
	end
	return got
end

local function learn(where, pinfo, h)
	if h.bad then
		return { links = {} }
	end
	where.stream.ours = true
	if h.response then
		return learn_reply(where, pinfo, h)
	elseif h.is_rpc then
		return learn_call(where, pinfo, h)
	end
	return { links = new_call(where, pinfo, h).links }
end

-- An RDMA Send, whole
local function message(tvb, pinfo, root, where)
	local item = root:add(rpcrdma2, tvb())
	local h = decode(tvb, item)
	if h.bad then
		item:add_proto_expert_info(x_malformed)
	end
	item:set_text(string.format("RPC-over-RDMA Version %u, %s%s, XID 0x%x",
		h.vers or 0, TYPE[h.type] or "unknown type", direction(h), h.xid or 0))
	if h.is_rpc and not h.bad then
		item:set_len(h.length)
	end
	if where.invalidated then
		item:add(f["invalidated"], where.invalidated):set_generated()
	end
	if h.type then
		show_columns(pinfo, h)
	end
	if first_time(where.key) then
		shown[where.key] = learn(where, pinfo, h)
	end
	show_message(shown[where.key] or { links = {} }, pinfo, root, item)
end

-- A Read Response is complete: has a Call been waiting for it?
local function read_done(tvb, pinfo, root, where)
	if first_time("done" .. where.key) then
		local s, got = where.stream, nil
		for i, call in ipairs(s.pending) do
			local msg, moved = assemble_call(s, call.h)
			if msg then
				table.remove(s.pending, i)
				forget(s, call.h.reads)
				call.links.payload_in = pinfo.number
				got = { message = msg, qp = where.qp, links = {
					header_in = call.frame, rdma_read = moved,
				} }
				break
			end
		end
		shown[where.key] = got
	end
	local got = shown[where.key]
	if got then
		local item = root:add(rpcrdma2, tvb())
		item:set_text("RPC-over-RDMA, the Call's last data read by RDMA")
		show_message(got, pinfo, root, item)
	end
end

------------------------------------------------------------ InfiniBand, RoCE

-- Reliable connection: what an opcode does, and which part of it this is
local IB = {
	[0] = { "send", "first" }, [1] = { "send", "middle" },
	[2] = { "send", "last" }, [3] = { "send", "last" },
	[4] = { "send", "only" }, [5] = { "send", "only" },
	[6] = { "write", "first" }, [7] = { "write", "middle" },
	[8] = { "write", "last" }, [9] = { "write", "last" },
	[10] = { "write", "only" }, [11] = { "write", "only" },
	[13] = { "read", "first" }, [14] = { "read", "middle" },
	[15] = { "read", "last" }, [16] = { "read", "only" },
	[22] = { "send", "last" }, [23] = { "send", "only" },
}

local function ib_where(pinfo)
	local qp = value("destqp")
	local src, dst = tostring(pinfo.src), tostring(pinfo.dst)
	local name = src .. ">" .. dst .. "/" .. qp .. ":"
	return {
		name = src .. ">" .. dst .. ":", back = dst .. ">" .. src .. ":",
		stream = stream(name), qp = qp,
		key = pinfo.number .. ":" .. value("psn"),
	}
end

-- A Send of several packets: the whole of it with the last, else nil
local function ib_send(tvb, where, part)
	local s = where.stream
	if part == "only" then
		return tvb
	end
	if first_time("send" .. where.key) then
		if part == "first" then
			s.send = {}
		end
		if s.send then
			s.send[#s.send + 1] = tvb:raw(0, tvb:len())
		end
		if part == "last" and s.send then
			shown["send" .. where.key] = table.concat(s.send)
			s.send = nil
		end
	end
	local whole = shown["send" .. where.key]
	return whole and ByteArray.new(whole, true):tvb("RDMA Send")
end

-- Data of a Write or a Read Response; the packets behind the first say no address.
local function ib_move(tvb, where, kind, part)
	local s = where.stream
	if not first_time(where.key) then
		return
	end
	if part == "first" or part == "only" then
		if kind == "write" then
			s[kind] = { handle = value("r_key"), at = offset_of(value("va")) }
		else
			s[kind] = reads[where.back .. value("psn")]
		end
	end
	local to = s[kind]
	if to then
		remember(s, to.handle, to.at, tvb:raw(0, tvb:len()))
		to.at = plus(to.at, tvb:len())
	end
end

local function without_pad(tvb)
	local n = tvb:len() - (value("padcnt") or 0)
	return n > 0 and tvb(0, n):tvb() or nil
end

local function infiniband(tvb, pinfo, tree)
	local op = value("opcode")
	local what = op and IB[op]
	tvb = what and without_pad(tvb)
	if not tvb then
		return false
	end
	local where, kind, part = ib_where(pinfo), what[1], what[2]
	if kind == "send" then
		if (part == "first" or part == "only") and
				not looks_like_us(tvb, where.stream) then
			return false
		end
		local whole = ib_send(tvb, where, part)
		if whole then
			local ieth = op >= 22 and info("ieth")
			where.invalidated = ieth and ieth.range:uint()
			message(whole, pinfo, tree, where)
		end
		return whole ~= nil or where.stream.send ~= nil
	end
	ib_move(tvb, where, kind, part)
	if kind == "read" and (part == "last" or part == "only") then
		read_done(tvb, pinfo, tree, where)
	end
	-- Of a connection of ours nobody else is asked.
	return where.stream.ours
end

----------------------------------------------------------------------- iWARP

local WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_SE_INV = 0, 1, 2, 3, 6

local function iwarp_where(pinfo)
	local a = tostring(pinfo.src) .. "/" .. pinfo.src_port
	local b = tostring(pinfo.dst) .. "/" .. pinfo.dst_port
	local name = a .. ">" .. b .. ":"
	return { name = name, back = b .. ">" .. a .. ":", stream = stream(name) }
end

-- The Read Request that a Read Response with this sink answers
local function iwarp_request(where, stag, offset)
	for _, r in ipairs(reads[where.back] or {}) do
		local at = minus(offset, r.sink_at)
		if r.sink == stag and at >= 0 and at < r.size then
			return r
		end
	end
end

local function iwarp_move(tvb, pinfo, where, op)
	local stag, offset = value("stag"), offset_of(value("offset"))
	where.key = table.concat({ pinfo.number, stag, offset.high, offset.low }, ":")
	if not first_time(where.key) then
		return
	end
	if op == WRITE then
		remember(where.stream, stag, offset, tvb:raw(0, tvb:len()))
		return
	end
	local r = iwarp_request(where, stag, offset)
	if r then
		remember(where.stream, r.handle,
			plus(r.at, minus(offset, r.sink_at)), tvb:raw(0, tvb:len()))
	end
end

local function iwarp(tvb, pinfo, tree)
	local op = value("rdmap")
	if not op or tvb:len() == 0 then
		return false
	end
	local where = iwarp_where(pinfo)
	if op == WRITE or op == READ_RESPONSE then
		iwarp_move(tvb, pinfo, where, op)
		if op == READ_RESPONSE and value("last") then
			read_done(tvb, pinfo, tree, where)
		end
		return where.stream.ours
	elseif op < SEND or op > SEND_SE_INV or
			not looks_like_us(tvb, where.stream) then
		return false
	end
	where.key = pinfo.number .. ":" .. value("msn") .. ":" .. value("mo")
	if op == 4 or op == SEND_SE_INV then
		where.invalidated = value("inval")
	end
	message(tvb, pinfo, tree, where)
	return true
end

------------------------------------------------------------ Read Requests

-- They have no payload, so that no dissector is asked about them.
local requests = Proto("rpcrdma2_reads", "RPC-over-RDMA Version 2, Read Requests")

function requests.dissector(_, pinfo)
	local request, all = value("opcode") == 12, { below.srcstag() }
	if not request and #all == 0 or not first_time("request" .. pinfo.number) then
		return
	end
	if request then
		reads[tostring(pinfo.src) .. ">" .. tostring(pinfo.dst) .. ":" ..
			value("psn")] = {
			handle = value("r_key"), at = offset_of(value("va")),
		}
	end
	local name = iwarp_where(pinfo).name
	local sink, sinkto = { below.sinkstag() }, { below.sinkto() }
	local size, srcto = { below.size() }, { below.srcto() }
	reads[name] = reads[name] or {}
	for i = 1, #all do
		table.insert(reads[name], 1, {
			sink = sink[i].value, sink_at = offset_of(sinkto[i].value),
			size = size[i].value, handle = all[i].value,
			at = offset_of(srcto[i].value),
		})
	end
end

-- Its filter makes Wireshark find fields when it reads a capture; it does nothing.
Listener.new("frame", "infiniband || iwarp_ddp")
register_postdissector(requests)
rpcrdma2:register_heuristic("infiniband.payload", infiniband)
rpcrdma2:register_heuristic("iwarp_ddp_rdmap", iwarp)
