"""Metrics of a model, beside the server's own. All workers that name the same family and labels write
into the same metric."""
import struct

import proa_calls
import proa_runtime
from proa_link import METRIC, U32, Draft
from proa_objects import TritonModelException

COUNTER, GAUGE, HISTOGRAM = range(3)
INCREMENT, SET, OBSERVE = range(3)
F64 = struct.Struct("<d")


class MetricFamily:
    """A family: what its metrics count."""
    COUNTER, GAUGE, HISTOGRAM = COUNTER, GAUGE, HISTOGRAM

    def __init__(self, name, description, kind):
        if kind not in (COUNTER, GAUGE, HISTOGRAM):
            raise TritonModelException(f"metric family '{name}': kind must be MetricFamily.COUNTER, "
                                       "GAUGE or HISTOGRAM")
        self._name, self._description, self._kind = str(name), str(description), kind

    def name(self):
        return self._name

    def Metric(self, labels=None, buckets=None):
        """The metric of this family with those labels; buckets: upper bounds, of histograms."""
        if (self._kind == HISTOGRAM) != (buckets is not None):
            raise TritonModelException(
                f"metric family '{self._name}': a histogram needs buckets" if buckets is None else
                f"metric family '{self._name}': only a histogram has buckets")
        return Metric(self, labels or {}, buckets or [])


class Metric:
    """One number, or one histogram."""

    def __init__(self, family, labels, buckets):
        self._family = family
        self._labels = {str(name): str(value) for name, value in labels.items()}
        self._buckets = [float(bound) for bound in buckets]
        if self._buckets != sorted(set(self._buckets)):
            raise TritonModelException("the buckets of a histogram must ascend")
        # Shown from now on; tells what the server does not accept.
        proa_calls.ask(proa_calls.METRIC_VALUE, tail=self._identity())

    def increment(self, value):
        self._write(INCREMENT, value)

    def set(self, value):
        self._write(SET, value)

    def observe(self, value):
        self._write(OBSERVE, value)

    def value(self):
        """The number, as all workers together have made it."""
        if self._family._kind == HISTOGRAM:
            raise TritonModelException("a histogram has no value()")
        return F64.unpack(struct.pack("<Q", proa_calls.ask(proa_calls.METRIC_VALUE,
                                                           tail=self._identity())))[0]

    def _write(self, operation, value):
        kind = self._family._kind
        allowed = {COUNTER: (INCREMENT,), GAUGE: (INCREMENT, SET), HISTOGRAM: (OBSERVE,)}[kind]
        if operation not in allowed:
            raise TritonModelException(
                f"a {('counter', 'gauge', 'histogram')[kind]} cannot "
                f"{('increment', 'set', 'observe')[operation]}()")
        if kind == COUNTER and value < 0:
            raise TritonModelException("a counter cannot be incremented by a negative value")
        draft = Draft(proa_runtime.link, METRIC)
        draft.body += self._identity()
        draft.body.append(operation)
        draft.body += F64.pack(value)
        draft.send()

    def _identity(self):
        family = self._family
        parts = [bytes((family._kind,))]
        texts = [family._name, family._description]
        for name, value in sorted(self._labels.items()):
            texts += [name, value]
        parts.append(U32.pack(len(self._labels)))
        for text in texts:
            encoded = text.encode()
            parts += [U32.pack(len(encoded)), encoded]
        parts.append(U32.pack(len(self._buckets)))
        parts += [F64.pack(bound) for bound in self._buckets]
        return b"".join(parts)
