"""The worker's end of the socket to the server, and the memory that the two share.

src/backends/python/wire.h describes the messages. A block is a memfd that one side made and both have
mapped; a loan is the right to use one until it is given back. Arrays over the server's blocks keep
their loan: it goes back when the last of them is gone.
"""
import array
import fcntl
import mmap
import os
import socket
import struct
import threading
import weakref

import numpy

START, EXECUTE, STOP, COMPLETE, ANSWER, CREDIT, CHECK = range(1, 8)
READY, RESPONSES, FAILED, COMPLETED, LOG, METRIC, CALL, CHECKED = range(65, 73)
BLOCKS, SPILLED = 128, 129

VERSION = 1
MOST_PACKET_BYTES = 96 << 10
MOST_INLINE_BYTES = 16 << 10
MOST_INLINE_TOTAL = 64 << 10
INLINE = 0xFFFFFFFF
RECEIVERS = 0x80000000
BY_NAME = 0xFFFF
CHANNEL_FD = 3
MOST_BLOCKS_PER_PACKET = 64
MOST_IDLE_BYTES = 64 << 20

HEAD = struct.Struct("<BBHIII")
ZEROS = [bytes(count) for count in range(16)]
U32 = struct.Struct("<I")
U64 = struct.Struct("<Q")
# index, type, rank, place, offset, bytes, dims: by rank.
TENSOR = [struct.Struct(f"<HBBIQQ{rank}q") for rank in range(65)]

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
ANCILLARY_BYTES = socket.CMSG_SPACE(4 * MOST_BLOCKS_PER_PACKET)


class Closed(Exception):
    """The server is gone, or wants this process to end."""


class Root(weakref.ref):
    """Waits for the end of the array over a whole block that was lent to us."""
    __slots__ = ("loan",)


class Incoming:
    """A message from the server. data: its bytes, ours alone; at: where its body begins."""
    __slots__ = ("kind", "items", "data", "at", "body", "roots")


class Block:
    """Shared memory of our own."""
    __slots__ = ("number", "size", "memory")


class Link:
    """The socket and the loans of both sides. Threads may send; one at a time receives."""

    def __init__(self):
        self._socket = socket.socket(fileno=CHANNEL_FD)
        buffer = bytearray(MOST_PACKET_BYTES)
        self._buffers = [buffer]
        self._view = memoryview(buffer)
        self._lock = threading.RLock()
        self._blocks = {}   # the server's, by number: the mapped memory
        self._roots = {}    # by loan: Root; keeps the weak reference alive
        self.returns = []   # loans of the server's that go back with the next message
        self._lent = {}     # loans of ours: Block
        self._idle = {}     # by size: [Block]
        self._idle_bytes = 0
        self._gone = []     # blocks of ours that the server may forget
        self._last_block = self._last_loan = 0

    # Receiving.

    def receive(self):
        """The next message; None when it was about blocks only."""
        size, ancillary, flags, _ = self._socket.recvmsg_into(self._buffers, ANCILLARY_BYTES)
        if size == 0:
            raise Closed
        data = bytearray(self._view[:size])
        if data[0] == BLOCKS:
            return self._take_blocks(data, ancillary)
        message = self._open(data)
        if message.kind == SPILLED:
            size, = U64.unpack_from(data, message.at)
            message = self._open(bytearray(memoryview(message.roots[0])[:size]))
        return message

    def _open(self, data):
        message = Incoming()
        message.kind, _, _, message.items, returns, loans = HEAD.unpack_from(data)
        message.data = data
        message.roots = []
        at = HEAD.size
        if returns or loans:
            with self._lock:
                for _ in range(returns):
                    self._take_back(U64.unpack_from(data, at)[0])
                    at += 8
                for _ in range(loans):
                    loan, block = struct.unpack_from("<QQ", data, at)
                    message.roots.append(self._root(loan, block))
                    at += 16
            at += (returns & 1) * 8
        message.at = message.body = at
        return message

    def _root(self, loan, block):
        root = numpy.frombuffer(self._blocks[block], numpy.uint8)
        reference = Root(root, self._root_gone)
        reference.loan = loan
        self._roots[loan] = reference
        return root

    def _root_gone(self, reference):
        loan, reference.loan = reference.loan, None
        if loan is not None:
            self._roots.pop(loan, None)
            self.returns.append(loan)

    def take_loan(self, root):
        """Its loan, which the caller gives back."""
        for loan, reference in self._roots.items():
            if reference() is root:
                break
        reference.loan = None
        del self._roots[loan]
        return loan

    def _take_blocks(self, data, ancillary):
        fds = array.array("i")
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(content[:len(content) // 4 * 4])
        count = HEAD.unpack_from(data)[3]
        at = HEAD.size
        for fd in fds[:count]:
            number, size = struct.unpack_from("<QQ", data, at)
            at += 16
            self._blocks[number] = mmap.mmap(fd, size)
            os.close(fd)
        gone, = U32.unpack_from(data, at)
        for number in struct.unpack_from(f"<{gone}Q", data, at + 4):
            self._blocks.pop(number, None)

    # Memory of our own.

    def _take_back(self, loan):
        block = self._lent.pop(loan)
        if self._idle_bytes + block.size > MOST_IDLE_BYTES:
            self._gone.append(block.number)
            block.memory.close()
            return
        self._idle.setdefault(block.size, []).append(block)
        self._idle_bytes += block.size

    def _take(self, size):
        """A block of that size at least, new ones introduced to the server."""
        capacity = max(1 << (size - 1).bit_length(), 64 << 10)
        idle = self._idle.get(capacity)
        if idle:
            self._idle_bytes -= capacity
            return idle.pop()
        block = Block()
        self._last_block += 1
        block.number, block.size = self._last_block, capacity
        fd = os.memfd_create("proa-worker", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, capacity)
            fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)
            block.memory = mmap.mmap(fd, capacity)
            gone, self._gone = self._gone, []
            packet = (HEAD.pack(BLOCKS, VERSION, 0, 1, 0, 0)
                      + struct.pack("<QQI", block.number, capacity, len(gone))
                      + struct.pack(f"<{len(gone)}Q", *gone))
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))
            self._socket.sendmsg([packet], [rights])
        finally:
            os.close(fd)
        return block

    # Sending.

    def send(self, draft):
        """Sends a Draft, with the loans that have ended."""
        with self._lock:
            returns = draft.returns
            if self.returns:
                pending, self.returns = self.returns, []
                returns = returns + pending
            self._send(draft, returns)

    def _send(self, draft, returns):
        loans = draft.loans
        head = HEAD.pack(draft.kind, VERSION, 0, draft.items, len(returns), len(loans) // 2)
        if returns or loans:
            count = len(returns) + len(loans)
            head += struct.pack(f"<{count}Q", *returns, *loans) + bytes(count % 2 * 8)
        body = draft.body
        size = len(head) + len(body)
        if size <= MOST_PACKET_BYTES:
            self._put([head, body])
            return
        block = self._take(size)
        block.memory[:len(head)] = head
        block.memory[len(head):size] = body
        loan = self._lend(block)
        self._put([HEAD.pack(SPILLED, VERSION, 0, 0, 0, 1),
                   struct.pack("<QQQ", loan, block.number, size)])

    def _put(self, parts):
        try:
            self._socket.sendmsg(parts)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    def _lend(self, block):
        self._last_loan += 1
        self._lent[self._last_loan] = block
        return self._last_loan


class Draft:
    """A message to the server while it is written."""
    __slots__ = ("link", "kind", "items", "body", "returns", "loans", "inline")

    def __init__(self, link, kind):
        self.link = link
        self.kind = kind
        self.items = 0
        self.body = bytearray()
        self.returns = []
        self.loans = []   # loan, block, loan, block, ...
        self.inline = 0

    def put_string(self, text):
        encoded = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        self.body += U32.pack(len(encoded))
        self.body += encoded

    def align(self, alignment):
        excess = len(self.body) % alignment
        if excess:
            self.body += bytes(alignment - excess)

    def put_tensor(self, index, kind, content, shape, name=None, loan=None, offset=0):
        """content: a contiguous or strided array, or bytes. loan: of the server's, where it lies."""
        is_bytes = isinstance(content, (bytes, bytearray))
        size = len(content) if is_bytes else content.nbytes
        body = self.body
        rank = len(shape)
        if loan is not None:
            self.returns.append(loan)
            place = RECEIVERS | (len(self.returns) - 1)
        elif size <= MOST_INLINE_BYTES and self.inline + size <= MOST_INLINE_TOTAL:
            self.inline += size
            at = len(body) + 24 + 8 * rank
            if name is not None:
                at += 4 + len(name)
            offset = (at + 15) & ~15
            body += TENSOR[rank].pack(index, kind, rank, INLINE, offset, size, *shape)
            if name is not None:
                self.put_string(name)
            if offset != at:
                body += ZEROS[offset - at]
            body += content if is_bytes else content.tobytes()
            if size & 7:
                body += ZEROS[-size & 7]
            return
        else:
            place, offset = self._lend(content, size, is_bytes), 0
        body += TENSOR[rank].pack(index, kind, rank, place, offset, size, *shape)
        if name is not None:
            self.put_string(name)
        self.align(8)

    def _lend(self, content, size, is_bytes):
        link = self.link
        with link._lock:
            block = link._take(size)
            if is_bytes:
                block.memory[:size] = content
            else:
                numpy.ndarray(content.shape, content.dtype, block.memory)[...] = content
            self.loans += (link._lend(block), block.number)
        return len(self.loans) // 2 - 1

    def send(self):
        self.link.send(self)
