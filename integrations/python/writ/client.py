# SPDX-License-Identifier: Apache-2.0
"""The clients of the service: `Writ` for threads, `AsyncWrit` for asyncio, with the same methods.

INVARIANT: a tool runs under an `AllowedDecision` and under nothing else, and an approval serves one run.
"""

import asyncio
import copy
import functools
import inspect
import os
import ssl
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncGenerator,
    Awaitable,
    Callable,
    Dict,
    Generator,
    Generic,
    Iterable,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    Union,
    cast,
    overload,
)

from . import exchange
from .decisions import (
    AllowedDecision,
    Decision,
    PossibleAction,
    RequestStatus,
    WritError,
    grant_of,
)
from .exchange import Ask, AsyncSource, Call, Connection, KeySource, Pause, Send, Source, Step, Steps
from .plans import Plan, PlannedCall
from .results import Failed, ResultFunction, Yielded, result_of
from .tokens import token_file
from .transport import ClientCertificate, Transport, TransportError, tls_context

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Protocol

    P = ParamSpec("P")

T = TypeVar("T")
Tool = TypeVar("Tool", bound=Callable[..., Any])
SourceKind = TypeVar("SourceKind", Source, AsyncSource)

#: For how long the declared results of an action are kept, as the service allows.
FIELDS_SECONDS = 60.0

#: A request id, whether the action was carried out, and what it returned.
Outcome = Tuple[str, bool, Optional[Mapping[str, Any]]]


@dataclass(frozen=True)
class _Run:
    """A call that runs under a grant."""

    action: str
    request_id: str
    result: Optional[ResultFunction]


#: An async generator, and the call to report when it has ended; None when nothing ran.
_Stream = Tuple[Optional[_Run], AsyncGenerator[Any, Any]]


ClientKind = TypeVar("ClientKind", bound="_Client[Any]")


@dataclass(frozen=True)
class SubAgent(Generic[ClientKind]):
    """A delegation with the key of its sub-agent, and a client for a sub-agent in this process."""

    id: str
    #: For a sub-agent in another process. No model may read it.
    key: str = field(repr=False)
    client: ClientKind


class _Client(Generic[SourceKind]):
    """The service at `url`, for the agent with `key`, both from the environment by default.

    `url`: The address of the service; by default WRIT_URL.
    `key`: The key of the agent or of an enforcement point, or the token of a workload; also a function that returns the
        present one, such as `token_file` makes. By default WRIT_API_KEY, and the file in WRIT_TOKEN_FILE without one. No
        model may read it.
    `agent`: With the key of an enforcement point, the agent that it asks for, by name or id.
    `signing_secret`: The secret by which the agent signs its requests.
    `session`: The session, as rules and meters see it, or a function that returns the present one.
    `on_behalf_of`: The token of the person for whom the agent asks, or a function that returns the present one.
    `wait`: Seconds to wait for a decision of people; `math.inf` waits until their deadline.
    `timeout`: Seconds that one answer may take in addition to the wait.
    `receipts`: Whether grants come with receipts; a text names the tool that the receipts are for.
    `traceparent`: The span that the spans of the service belong to, or a function that returns the present one.
    `ca_file`: The certificates to trust, in PEM, in place of those of the system.
    `client_certificate`: The path of a certificate and its key in PEM, or the paths of both.
    `ssl_context`: In place of the last two.

    Raises ValueError for settings that cannot be, and OSError for files that cannot be read.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[KeySource] = None,
        *,
        agent: Optional[str] = None,
        signing_secret: Optional[str] = None,
        session: SourceKind = None,
        on_behalf_of: SourceKind = None,
        wait: float = 50,
        timeout: float = 10,
        receipts: Union[bool, str] = False,
        traceparent: Source = None,
        ca_file: Optional[str] = None,
        client_certificate: Optional[ClientCertificate] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        if ssl_context is not None and (ca_file is not None or client_certificate is not None):
            raise ValueError("give ssl_context, or ca_file and client_certificate")
        if ca_file is not None or client_certificate is not None:
            ssl_context = tls_context(ca_file, client_certificate)
        address = _given("url", url, "WRIT_URL").rstrip("/")
        self._transport = Transport(address, ssl_context)
        self._connection = Connection(
            url=address,
            key=_key_of(key),
            agent=None if agent is None else exchange.header_text("the agent", agent),
            signing_secret=signing_secret,
            session=session,
            on_behalf_of=on_behalf_of,
            wait=wait,
            timeout=timeout,
            receipts=receipts,
            traceparent=traceparent,
        )
        self._fields: Dict[str, Tuple[Sequence[str], float]] = {}
        self._reports: Set["asyncio.Task[None]"] = set()

    def _with(self: ClientKind, connection: Connection) -> ClientKind:
        """The same client for another key."""
        other = copy.copy(self)
        other._connection = connection
        other._fields = {}
        other._reports = set()
        return other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connection.url!r})"

    def _do(self, steps: Steps[T]) -> T:
        """Carries steps out in this thread."""
        answer: Any = None
        try:
            while True:
                step = steps.send(answer) if not isinstance(answer, TransportError) else steps.throw(answer)
                try:
                    answer = self._perform(step)
                except TransportError as error:
                    answer = error
        except StopIteration as end:
            return cast(T, end.value)

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Send):
            return self._transport.send(step.request)
        if isinstance(step, Pause):
            return time.sleep(step.seconds)
        answer = step.function()
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError("a coroutine function yields the session or the person: use AsyncWrit")
        return answer

    async def _do_async(self, steps: Steps[T]) -> T:
        """Carries steps out while other tasks of the event loop go on."""
        answer: Any = None
        try:
            while True:
                step = steps.send(answer) if not isinstance(answer, TransportError) else steps.throw(answer)
                try:
                    answer = await self._perform_async(step)
                except TransportError as error:
                    answer = error
        except StopIteration as end:
            return cast(T, end.value)

    async def _perform_async(self, step: Step) -> Any:
        if isinstance(step, Send):
            return await self._transport.send_async(step.request)
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds)
        answer = step.function()
        return await answer if inspect.isawaitable(answer) else answer

    def _granted(self, ask: Ask) -> Steps[AllowedDecision]:
        return grant_of((yield from exchange.authorize(self._connection, ask)))

    def _reported(self, run: _Run, returned: Any) -> Steps[None]:
        """Reports that the call ran, with the result that its action declares."""
        result = yield from self._result(run, returned)
        yield from exchange.report(self._connection, run.request_id, True, result)

    def _result(self, run: _Run, returned: Any) -> Steps[Optional[Mapping[str, Any]]]:
        if run.result is None:
            fields = yield from self._fields_of(run.action)
            return result_of(returned, fields) or None
        if isinstance(returned, Failed):
            return None
        try:
            return run.result(returned.values if isinstance(returned, Yielded) else returned)
        except Exception:
            exchange.log.warning("`result` of the guard on %s failed", run.action, exc_info=True)
            return None

    def _fields_of(self, action: str) -> Steps[Sequence[str]]:
        """The fields of the result that an action declares; none while the service does not say."""
        fields, ends_at = self._fields.get(action, ((), 0.0))
        if time.monotonic() < ends_at:
            return fields
        try:
            listed = yield from exchange.actions(self._connection, action)
        except WritError as error:
            exchange.log.warning("the result of %s was left out of its report: %s", action, error)
            return ()
        fields = next((one.result_fields or () for one in listed if one.action == action), ())
        self._fields[action] = (fields, time.monotonic() + FIELDS_SECONDS)
        return fields

    def _ended(self, run: _Run, returned: Any) -> Any:
        """What a call returned, reported now, or once it has ended if it is a coroutine or a generator."""
        if inspect.isawaitable(returned):
            return self._awaited(run, returned)
        if inspect.isgenerator(returned):
            return self._yielding(run, returned)
        if inspect.isasyncgen(returned):
            return self._streaming(functools.partial(_started, run, returned))()
        self._do(self._reported(run, returned))
        return returned

    async def _ended_async(self, run: _Run, returned: Any) -> Any:
        if inspect.isawaitable(returned):
            return await self._awaited(run, returned)
        if inspect.isgenerator(returned) or inspect.isasyncgen(returned):
            return self._ended(run, returned)
        await self._report_async(run, returned)
        return returned

    async def _awaited(self, run: _Run, work: Awaitable[T]) -> T:
        try:
            returned = await work
        except BaseException:
            # Work that failed half-way, or was cancelled, has used the grant, too.
            await self._report_async(run, Failed())
            raise
        await self._report_async(run, returned)
        return returned

    async def _report_async(self, run: _Run, returned: Any) -> None:
        """A task that is cancelled meanwhile leaves the report to go on."""
        task = asyncio.ensure_future(self._do_async(self._reported(run, returned)))
        self._reports.add(task)
        task.add_done_callback(self._reports.discard)
        await asyncio.shield(task)

    def _yielding(self, run: _Run, source: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Yields what `source` yields, and reports when it has ended, or is closed."""
        yielded = Yielded(run.result is not None)
        outcome: Any = Failed()
        try:
            value = next(source)
            while True:
                yielded.add(value)
                try:
                    sent = yield value
                except GeneratorExit:
                    source.close()
                    outcome = yielded
                    raise
                except BaseException as error:
                    value = source.throw(error)
                else:
                    value = source.send(sent)
        except StopIteration as end:
            outcome = yielded
            return end.value
        finally:
            self._do(self._reported(run, outcome))

    def _streaming(self, start: Callable[..., Awaitable[_Stream]]) -> Callable[..., AsyncGenerator[Any, Any]]:
        """As `_yielding`, for an async generator that begins with a question: a function that makes the generator."""

        # Typed by the method: mypy 1.0 takes this for a plain generator.
        async def stream(*args: Any, **named: Any) -> Any:
            run, source = await start(*args, **named)
            yielded = Yielded(run is not None and run.result is not None)
            outcome: Any = Failed()
            try:
                value = await source.__anext__()
                while True:
                    yielded.add(value)
                    try:
                        sent = yield value
                    except GeneratorExit:
                        await source.aclose()
                        outcome = yielded
                        raise
                    except BaseException as error:
                        value = await source.athrow(error)
                    else:
                        value = await source.asend(sent)
            except StopAsyncIteration:
                outcome = yielded
            finally:
                if run is not None:
                    await self._report_async(run, outcome)

        return stream


class Writ(_Client[Source]):
    __doc__ = _Client.__doc__

    def authorize(
        self,
        action: str,
        payload: Mapping[str, Any],
        *,
        idempotency_key: Optional[str] = None,
        wait: Optional[float] = None,
        on_behalf_of: Source = None,
        session: Source = None,
    ) -> Decision:
        """Asks until there is a decision or the wait is over. Only an `AllowedDecision` permits anything; then report it.

        The same `idempotency_key` gives the same decision; each call has a new one by default. Raises UnreachableError,
        and TypeError or ValueError for a payload that JSON cannot hold exactly.
        """
        ask = Ask(action, payload, idempotency_key, wait, on_behalf_of, session)
        return self._do(exchange.authorize(self._connection, ask))

    def run(
        self,
        action: str,
        payload: Mapping[str, Any],
        work: Callable[[AllowedDecision], T],
        *,
        idempotency_key: Optional[str] = None,
        wait: Optional[float] = None,
        on_behalf_of: Source = None,
        session: Source = None,
        result: Optional[ResultFunction] = None,
    ) -> T:
        """Decides, runs `work` with the grant, and reports that it ran, with its result. Raises WritError when it did not run.

        If `work` returns a coroutine or a generator, the report follows when that has ended.
        """
        ask = Ask(action, payload, idempotency_key, wait, on_behalf_of, session)
        grant = self._do(self._granted(ask))
        return cast(T, self._run(_Run(action, grant.request_id, result), functools.partial(work, grant)))

    def guard(
        self,
        action: str,
        payload: Optional[Callable[..., Mapping[str, Any]]] = None,
        *,
        idempotency_key: Optional[Callable[..., str]] = None,
        wait: Optional[float] = None,
        on_behalf_of: Source = None,
        session: Source = None,
        result: Optional[ResultFunction] = None,
        on_refusal: Optional[Callable[[WritError], Any]] = None,
    ) -> Callable[[Tool], Tool]:
        """Decorates a tool, which then asks before each call: a function, a coroutine function or a generator of both kinds.

        The payload is the arguments by name, with the defaults that are not None and without `self`. `payload` and
        `idempotency_key` make another one of the arguments. `result` makes the result to report, in place of the
        declared fields by name. What `on_refusal` returns is returned in place of an exception when nothing ran.
        """
        rules = _Rules(action, payload, idempotency_key, wait, on_behalf_of, session, result, on_refusal)

        def decorate(tool: Tool) -> Tool:
            call = _GuardedTool(self, tool, rules)
            if _is(inspect.iscoroutinefunction, tool):
                return cast(Tool, call.as_coroutine())
            if _is(inspect.isasyncgenfunction, tool):
                return cast(Tool, call.as_async_generator())
            if _is(inspect.isgeneratorfunction, tool):
                return cast(Tool, call.as_generator())
            return cast(Tool, call.as_function())

        return decorate

    def get_request(self, request_id: str, *, wait: float = 0) -> Optional[RequestStatus]:
        """The state of a request, once people have decided or `wait` is over; None when the agent has no such request.

        This does not consume an approval.
        """
        return self._do(exchange.get_request(self._connection, request_id, wait))

    def plan(
        self,
        steps: Sequence[PlannedCall],
        *,
        goal: Optional[str] = None,
        submit: bool = False,
        idempotency_key: Optional[str] = None,
        on_behalf_of: Source = None,
        session: Source = None,
    ) -> Plan:
        """Shows what would be decided for the steps of a task, and asks people for them with `submit`.

        `steps`: Actions with their payloads, in their order.
        `goal`: What the agent wants to reach, for the people who decide.

        Nothing is granted: each step is asked for with `authorize`, `run` or `guard` when it is due, and goes on with its
        approved request. Raises DeniedError when the service refuses the plan, and as `authorize`.
        """
        planning = exchange.Planning(steps, goal, submit, idempotency_key, on_behalf_of, session)
        return self._do(exchange.plan(self._connection, planning))

    def get_plan(self, plan_id: str) -> Optional[Plan]:
        """A plan of the agent with the present state of its steps; None when the agent has no such plan."""
        return self._do(exchange.get_plan(self._connection, plan_id))

    def delegate(
        self,
        name: str,
        actions: Sequence[str],
        until: datetime,
        *,
        when: Optional[str] = None,
        uses: Optional[int] = None,
        session: Optional[str] = None,
    ) -> "SubAgent[Writ]":
        """Passes a part of what the agent may do to a sub-agent.

        `name`: Rules read it as `request.delegate`.
        `actions`: Keys of actions, or patterns such as `payment.*`.
        `until`: When it ends, at most 30 days away, with a time zone.
        `when`: A condition of the policy language over the request.
        `uses`: How many requests may come by it; any number by default.
        `session`: The session of all its requests.

        Raises DeniedError when the service refuses the terms.
        """
        terms = exchange.Terms(name, actions, until, when, uses, session)
        delegation_id, connection = self._do(exchange.delegate(self._connection, terms))
        return SubAgent(delegation_id, cast(str, connection.key), self._with(connection))

    def revoke_delegation(self, delegation_id: str) -> None:
        """Revokes a delegation and everything below it."""
        self._do(exchange.revoke_delegation(self._connection, delegation_id))

    def withdraw(self, request_id: str) -> None:
        """Withdraws a request that waits."""
        self._do(exchange.withdraw(self._connection, request_id))

    def report(self, request_id: str, is_executed: bool, result: Optional[Mapping[str, Any]] = None) -> None:
        """Reports the outcome of a grant, for callers that carry it out without `run`.

        A result that the service does not take is left out, with a warning in the log `writ`; so is a report that does
        not arrive.
        """
        self._do(exchange.report(self._connection, request_id, is_executed, result))

    def report_all(self, outcomes: Iterable[Outcome]) -> None:
        """Reports the outcomes of up to 100 grants together, as `report` does."""
        self._do(exchange.report_all(self._connection, outcomes))

    def actions(self, prefix: str = "") -> Sequence[PossibleAction]:
        """What the agent can get for each action whose key begins with `prefix`, before it asks."""
        return self._do(exchange.actions(self._connection, prefix))

    def _run(self, run: _Run, work: Callable[[], Any]) -> Any:
        try:
            returned = work()
        except BaseException:
            # Work that failed half-way has used the grant, too.
            self._do(self._reported(run, Failed()))
            raise
        return self._ended(run, returned)


class AsyncWrit(_Client[AsyncSource]):
    __doc__ = _Client.__doc__

    async def authorize(
        self,
        action: str,
        payload: Mapping[str, Any],
        *,
        idempotency_key: Optional[str] = None,
        wait: Optional[float] = None,
        on_behalf_of: AsyncSource = None,
        session: AsyncSource = None,
    ) -> Decision:
        """As `Writ.authorize`. A task that is cancelled ends its wait; the request stays and can be taken up again."""
        ask = Ask(action, payload, idempotency_key, wait, on_behalf_of, session)
        return await self._do_async(exchange.authorize(self._connection, ask))

    @overload
    async def run(
        self,
        action: str,
        payload: Mapping[str, Any],
        work: Callable[[AllowedDecision], Awaitable[T]],
        *,
        idempotency_key: Optional[str] = ...,
        wait: Optional[float] = ...,
        on_behalf_of: AsyncSource = ...,
        session: AsyncSource = ...,
        result: Optional[ResultFunction] = ...,
    ) -> T: ...

    @overload
    async def run(
        self,
        action: str,
        payload: Mapping[str, Any],
        work: Callable[[AllowedDecision], T],
        *,
        idempotency_key: Optional[str] = ...,
        wait: Optional[float] = ...,
        on_behalf_of: AsyncSource = ...,
        session: AsyncSource = ...,
        result: Optional[ResultFunction] = ...,
    ) -> T: ...

    async def run(
        self,
        action: str,
        payload: Mapping[str, Any],
        work: Callable[[AllowedDecision], Any],
        *,
        idempotency_key: Optional[str] = None,
        wait: Optional[float] = None,
        on_behalf_of: AsyncSource = None,
        session: AsyncSource = None,
        result: Optional[ResultFunction] = None,
    ) -> Any:
        """As `Writ.run`. `work` is called on the event loop, and what it returns is awaited."""
        ask = Ask(action, payload, idempotency_key, wait, on_behalf_of, session)
        grant = await self._do_async(self._granted(ask))
        run = _Run(action, grant.request_id, result)
        try:
            returned = work(grant)
        except BaseException:
            await self._report_async(run, Failed())
            raise
        return await self._ended_async(run, returned)

    def guard(
        self,
        action: str,
        payload: Optional[Callable[..., Mapping[str, Any]]] = None,
        *,
        idempotency_key: Optional[Callable[..., str]] = None,
        wait: Optional[float] = None,
        on_behalf_of: AsyncSource = None,
        session: AsyncSource = None,
        result: Optional[ResultFunction] = None,
        on_refusal: Optional[Callable[[WritError], Any]] = None,
    ) -> "_AsyncDecorator":
        """As `Writ.guard`, for a coroutine function or an async generator. A plain function becomes a coroutine function
        that runs it in a thread. Raises TypeError for a plain generator.
        """
        rules = _Rules(action, payload, idempotency_key, wait, on_behalf_of, session, result, on_refusal)

        def decorate(tool: Callable[..., Any]) -> Callable[..., Any]:
            call = _GuardedTool(self, tool, rules)
            if _is(inspect.isgeneratorfunction, tool):
                raise TypeError(f"{call.name} is a generator: guard an async generator, or use Writ")
            if _is(inspect.isasyncgenfunction, tool):
                return call.as_async_generator()
            return call.as_coroutine(in_thread=not _is(inspect.iscoroutinefunction, tool))

        return cast("_AsyncDecorator", decorate)

    async def get_request(self, request_id: str, *, wait: float = 0) -> Optional[RequestStatus]:
        """As `Writ.get_request`."""
        return await self._do_async(exchange.get_request(self._connection, request_id, wait))

    async def plan(
        self,
        steps: Sequence[PlannedCall],
        *,
        goal: Optional[str] = None,
        submit: bool = False,
        idempotency_key: Optional[str] = None,
        on_behalf_of: AsyncSource = None,
        session: AsyncSource = None,
    ) -> Plan:
        """As `Writ.plan`."""
        planning = exchange.Planning(steps, goal, submit, idempotency_key, on_behalf_of, session)
        return await self._do_async(exchange.plan(self._connection, planning))

    async def get_plan(self, plan_id: str) -> Optional[Plan]:
        """As `Writ.get_plan`."""
        return await self._do_async(exchange.get_plan(self._connection, plan_id))

    async def delegate(
        self,
        name: str,
        actions: Sequence[str],
        until: datetime,
        *,
        when: Optional[str] = None,
        uses: Optional[int] = None,
        session: Optional[str] = None,
    ) -> "SubAgent[AsyncWrit]":
        """As `Writ.delegate`."""
        terms = exchange.Terms(name, actions, until, when, uses, session)
        delegation_id, connection = await self._do_async(exchange.delegate(self._connection, terms))
        return SubAgent(delegation_id, cast(str, connection.key), self._with(connection))

    async def revoke_delegation(self, delegation_id: str) -> None:
        """As `Writ.revoke_delegation`."""
        await self._do_async(exchange.revoke_delegation(self._connection, delegation_id))

    async def withdraw(self, request_id: str) -> None:
        """As `Writ.withdraw`."""
        await self._do_async(exchange.withdraw(self._connection, request_id))

    async def report(
        self, request_id: str, is_executed: bool, result: Optional[Mapping[str, Any]] = None
    ) -> None:
        """As `Writ.report`."""
        await self._do_async(exchange.report(self._connection, request_id, is_executed, result))

    async def report_all(self, outcomes: Iterable[Outcome]) -> None:
        """As `Writ.report_all`."""
        await self._do_async(exchange.report_all(self._connection, outcomes))

    async def actions(self, prefix: str = "") -> Sequence[PossibleAction]:
        """As `Writ.actions`."""
        return await self._do_async(exchange.actions(self._connection, prefix))


@dataclass(frozen=True)
class _Rules:
    """What `guard` was given."""

    action: str
    payload: Optional[Callable[..., Mapping[str, Any]]]
    idempotency_key: Optional[Callable[..., str]]
    wait: Optional[float]
    on_behalf_of: AsyncSource
    session: AsyncSource
    result: Optional[ResultFunction]
    on_refusal: Optional[Callable[[WritError], Any]]


class _GuardedTool:
    """A tool that asks before each call, in the form of the tool itself."""

    def __init__(self, client: _Client[Any], tool: Callable[..., Any], rules: _Rules) -> None:
        self._client = client
        self._tool = tool
        self._rules = rules
        self._payload = rules.payload or _arguments_by_name(tool)
        self.name = getattr(tool, "__name__", repr(tool))

    def as_function(self) -> Callable[..., Any]:
        client = cast(Writ, self._client)

        @functools.wraps(self._tool)
        def guarded(*args: Any, **named: Any) -> Any:
            try:
                grant = client._do(client._granted(self._ask(args, named)))
            except WritError as error:
                return self._refused(error)
            return client._run(self._run(grant), functools.partial(self._tool, *args, **named))

        return guarded

    def as_generator(self) -> Callable[..., Any]:
        client = self._client

        @functools.wraps(self._tool)
        def guarded(*args: Any, **named: Any) -> Generator[Any, Any, Any]:
            try:
                grant = client._do(client._granted(self._ask(args, named)))
            except WritError as error:
                yield self._refused(error)
                return None
            return (yield from client._yielding(self._run(grant), self._tool(*args, **named)))

        return guarded

    def as_coroutine(self, *, in_thread: bool = False) -> Callable[..., Any]:
        client = self._client

        @functools.wraps(self._tool)
        async def guarded(*args: Any, **named: Any) -> Any:
            try:
                grant = await client._do_async(client._granted(self._ask(args, named)))
            except WritError as error:
                return self._refused(error)
            if not in_thread:
                return await client._awaited(self._run(grant), self._tool(*args, **named))

            async def work() -> Any:
                returned = await asyncio.to_thread(self._tool, *args, **named)
                return await returned if inspect.isawaitable(returned) else returned

            return await client._awaited(self._run(grant), work())

        return guarded

    def as_async_generator(self) -> Callable[..., Any]:
        client = self._client

        async def start(*args: Any, **named: Any) -> _Stream:
            try:
                grant = await client._do_async(client._granted(self._ask(args, named)))
            except WritError as error:
                return None, _only(self._refused(error))
            return self._run(grant), self._tool(*args, **named)

        return functools.wraps(self._tool)(client._streaming(start))

    def _ask(self, args: Tuple[Any, ...], named: Dict[str, Any]) -> Ask:
        rules = self._rules
        key = None if rules.idempotency_key is None else rules.idempotency_key(*args, **named)
        payload = self._payload(*args, **named)
        return Ask(rules.action, payload, key, rules.wait, rules.on_behalf_of, rules.session)

    def _run(self, grant: AllowedDecision) -> _Run:
        return _Run(self._rules.action, grant.request_id, self._rules.result)

    def _refused(self, error: WritError) -> Any:
        if self._rules.on_refusal is None:
            raise error
        return self._rules.on_refusal(error)


async def _started(run: _Run, source: AsyncGenerator[Any, Any]) -> _Stream:
    return run, source


async def _only(value: Any) -> AsyncGenerator[Any, Any]:
    yield value


def _arguments_by_name(tool: Callable[..., Any]) -> Callable[..., Dict[str, Any]]:
    """A function that makes the payload of a call: its arguments by name."""
    try:
        signature = inspect.signature(tool)
    except (TypeError, ValueError):
        return lambda **named: named  # A function in C without a signature.

    def payload(*args: Any, **named: Any) -> Dict[str, Any]:
        given = signature.bind(*args, **named).arguments
        values: Dict[str, Any] = {}
        for index, (name, parameter) in enumerate(signature.parameters.items()):
            if index == 0 and name in ("self", "cls"):
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                values.update(given.get(name, {}))
            elif name in given:
                values[name] = given[name]
            elif parameter.default not in (parameter.empty, None):
                values[name] = parameter.default
        return values

    return payload


def _is(kind: Callable[[Any], bool], tool: Any) -> bool:
    """Whether a tool, or the method that calls it, is a function of this kind."""
    return kind(tool) or (not inspect.isclass(tool) and kind(getattr(tool, "__call__", None)))


def _key_of(key: Optional[KeySource]) -> KeySource:
    if callable(key):
        return key
    if key is None and not os.environ.get("WRIT_API_KEY") and os.environ.get("WRIT_TOKEN_FILE"):
        return token_file()
    return exchange.header_text("the key", _given("key", key, "WRIT_API_KEY"))


def _given(name: str, value: Optional[str], variable: str) -> str:
    text = os.environ.get(variable) if value is None else value
    if not text:
        raise ValueError(f"give the client `{name}`, or set {variable}")
    return text


if TYPE_CHECKING:

    class _AsyncDecorator(Protocol):
        """Keeps a coroutine function and an async generator as they are; other functions become coroutine functions."""

        @overload
        def __call__(self, tool: Callable[P, AsyncGenerator[T, Any]]) -> Callable[P, AsyncGenerator[T, Any]]: ...  # type: ignore

        @overload
        def __call__(self, tool: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]: ...

        @overload
        def __call__(self, tool: Callable[P, T]) -> Callable[P, Awaitable[T]]: ...
