/**
 * The script's side of the door (see door.ts). It is called with the function of tame.js (see room.ts) in every fresh
 * context, before any code of the author. Its value is the only function that the host holds. Because this code shares
 * the context with the script, it keeps its own references to built-in functions, stores nothing where a changed
 * prototype could intercept it, and gives the script only frozen arrow functions. A script that tricks it harms only
 * itself, since the host checks all output again.
 *
 * Input: a JSON list with the time, then objects `{do: 'seed' | 'start' | 'undebugged' | 'answer' | 'fail' | 'event' |
 * 'interrupt', ...}`.
 *
 * Output: a JSON list of
 * - ['call', id, name, args]: a command; ['cancel', id]: cancels it
 * - ['keys', boolean]: whether the script listens for keys
 * - ['heard']: an interrupt ended a wait
 * - ['log', level, text]
 * - ['limit', name]: an exceeded limit
 * - ['done', value, vars] or ['threw', code, message, stack]: the end
 * - ['unstarted']: the source itself has not run to its end
 * - ['idle']: nothing can continue the script
 */
/* oxlint-disable typescript/unbound-method -- the extracted methods are called with `apply` only */
/* oxlint-disable eslint/no-unused-expressions -- the file is one expression */
(tame) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply, ownKeys } = Reflect;
  const { create, defineProperty, freeze, setPrototypeOf } = Object;
  const { indexOf, slice } = String.prototype;
  const { add, clear, delete: remove, forEach } = Set.prototype;
  const { finally: lastly, then } = Promise.prototype;
  const native = globalThis.console;
  const SetOf = Set;
  const PromiseOf = Promise;
  const ProxyOf = Proxy;
  const ErrorOf = Error;
  const { captureStackTrace } = Error;
  const text = String;
  const { charCodeAt } = String.prototype;
  const { bind, call } = Function.prototype;
  const Lengths = Int32Array;
  const Units = Uint16Array;
  const shared = Atomics;

  const { setClock, setSeed } = tame(hide, fix);

  let limits;
  let out = '';
  /** True when the run has ended or has to end: further output is dropped. */
  let over = false;
  let exceeded = false;
  let ended = false;
  let started = false;
  let registered = false;
  /** Resolves the promise of an activation that awaits the script's end, with the output. */
  let settleEnd;
  /** The author's function, if it was registered before the start. */
  let earlyAuthor;
  let main = { __proto__: null, kind: '', args: undefined, vars: undefined };
  let lastId = 0;
  let waiting = 0;
  const pending = create(null);
  let listening = 0;
  let keyListeners = 0;
  const listeners = create(null);
  /** Functions that end the pending `events.next`. */
  const waits = new SetOf();
  /** An interrupt that found no wait to end. */
  let pendingInterrupt;
  /** True with a debugger, which shows the log and stops at uncaught exceptions. */
  let debugged = false;
  let undebugged = false;
  let logLines = 0;
  let logBytes = 0;
  /** The log buffer of this turn (log-buffer.ts), if the script logs. The script cannot reach its prototype. */
  let logBuffer;
  let bufferLength;
  let bufferUnits;
  let codeAt;

  function append(message) {
    if (over) return;
    if (out.length + message.length >= limits.messageBytes) exceed('messageBytes');
    else out = out === '' ? message : `${out},${message}`;
  }

  function exceed(limit) {
    if (over) return;
    over = true;
    exceeded = true;
    out = `["limit","${limit}"]`;
  }

  /** Ends a loop of a script that has exceeded a limit. */
  function throwIfExceeded() {
    if (exceeded) throw new ScenarioError('limit', 'the script exceeded a limit');
  }

  class ScenarioError extends ErrorOf {
    constructor(code, message) {
      super(message);
      hide(this, 'code', text(code));
    }
  }
  hide(ScenarioError.prototype, 'name', 'ScenarioError');

  function hide(target, name, value) {
    defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  }

  function fix(target, name, value) {
    defineProperty(target, name, { __proto__: null, value, writable: false, configurable: false, enumerable: false });
  }

  /** @param called the function that the script called */
  function command(name, args, called) {
    throwIfExceeded();
    if (over) return new PromiseOf(() => undefined);
    let plain;
    try {
      plain = listText(args);
    } catch (error) {
      return new PromiseOf((_, reject) => reject(new ScenarioError('not_plain', `${name}: ${messageOf(error)}`)));
    }
    if (waiting >= limits.pendingCommands) exceed('pendingCommands');
    const id = ++lastId;
    append(`["call",${id},${stringify(name)},${plain}]`);
    throwIfExceeded();
    waiting++;
    // The position of the call, known only now; V8 formats the stack on demand.
    const site = { __proto__: null };
    captureStackTrace(site, called);
    const promise = new PromiseOf((resolve, reject) => {
      pending[id] = { __proto__: null, resolve, reject, site };
    });
    fix(promise, 'cancel', () => cancel(id, name, promise));
    return promise;
  }

  /** Stringifies item by item, because the script may have given lists a `toJSON`. */
  function listText(list) {
    let items = '';
    for (let index = 0; index < list.length; index++) {
      const item = stringify(list[index]) ?? 'null';
      items = index === 0 ? item : `${items},${item}`;
    }
    return `[${items}]`;
  }

  function take(id) {
    const settle = pending[id];
    if (settle === undefined) return undefined;
    delete pending[id];
    waiting--;
    return settle;
  }

  function cancel(id, name, promise) {
    const settle = take(id);
    if (settle === undefined) return;
    // The script cancelled the command itself, so the rejection does not count as unhandled.
    void apply(then, promise, [undefined, () => undefined]);
    append(`["cancel",${id}]`);
    settle.reject(failure('cancelled', `${name} was cancelled`, settle.site));
  }

  /**
   * The error of a failed command. Its stack is that of the call, because the failure itself has none in the script.
   */
  function failure(code, message, site) {
    const error = new ScenarioError(code, message);
    try {
      const { stack } = site;
      const head = `ScenarioError: ${error.message}`;
      if (typeof stack === 'string') hide(error, 'stack', `${head}${cutFrom(stack, '\n')}`);
    } catch {
      // The script has replaced V8's stacks.
    }
    return error;
  }

  function cutFrom(value, mark) {
    const from = apply(indexOf, value, [mark]);
    return from < 0 ? '' : apply(slice, value, [from]);
  }

  function write(level, parts) {
    let line = '';
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      let shown;
      try {
        shown = typeof part === 'string' ? part : (stringify(part) ?? text(part));
      } catch (error) {
        shown = `[${messageOf(error)}]`;
      }
      line = index === 0 ? shown : `${line} ${shown}`;
    }
    logLines++;
    logBytes += line.length;
    if (logLines > limits.logLines) exceed('logLines');
    else if (logBytes > limits.logBytes) exceed('logBytes');
    else {
      const item = `["log","${level}",${stringify(line)}]`;
      append(item);
      if (!over && logBuffer !== undefined) bufferLog(item);
    }
    throwIfExceeded();
  }

  function bufferLog(item) {
    bufferLength ??= new Lengths(logBuffer, 0, 1);
    bufferUnits ??= new Units(logBuffer, 4);
    codeAt ??= apply(bind, call, [charCodeAt]);
    const from = shared.load(bufferLength, 0);
    const to = from + item.length + 1;
    if (!hasRoom(4 + 2 * to)) return;
    for (let index = 0; index < item.length; index++) bufferUnits[from + index] = codeAt(item, index);
    bufferUnits[to - 1] = 44;
    // Stored last: a reader of the length finds the complete text.
    shared.store(bufferLength, 0, to);
  }

  function hasRoom(bytes) {
    const { byteLength: room, maxByteLength: most } = logBuffer;
    if (bytes <= room) return true;
    if (bytes > most) return false;
    const wanted = 2 * room > bytes ? 2 * room : bytes;
    logBuffer.grow(wanted > most ? most : wanted);
    return true;
  }

  function listen(type, listener) {
    if (typeof listener !== 'function') throw new ScenarioError('not_plain', 'events.on needs a function');
    const key = text(type);
    listeners[key] ??= new SetOf();
    const set = listeners[key];
    const entry = (event) => listener(event);
    apply(add, set, [entry]);
    listening++;
    if (key === 'dtmf' && ++keyListeners === 1) append('["keys",true]');
    return () => {
      if (!apply(remove, set, [entry])) return;
      listening--;
      if (key === 'dtmf' && --keyListeners === 0) append('["keys",false]');
    };
  }

  /** @param called as for `command` */
  function next(type, called) {
    const site = { __proto__: null };
    captureStackTrace(site, called);
    const promise = new PromiseOf((resolve, reject) => {
      const end = ({ code, message }) => {
        stop();
        reject(failure(code, message, site));
      };
      const stop = listen(type, (event) => {
        stop();
        apply(remove, waits, [end]);
        resolve(event);
      });
      apply(add, waits, [end]);
    });
    // A rejection before the script awaits the promise does not count as unhandled.
    void apply(then, promise, [undefined, () => undefined]);
    if (pendingInterrupt !== undefined) interrupt(pendingInterrupt);
    return promise;
  }

  /** Ends all waits for events. Without one, it ends the next wait. */
  function interrupt(reason) {
    let heard = false;
    apply(forEach, waits, [
      (end) => {
        heard = true;
        end(reason);
      },
    ]);
    apply(clear, waits, []);
    pendingInterrupt = heard ? undefined : reason;
    if (heard) append('["heard"]');
  }

  function dispatch(event) {
    const set = listeners[event.type];
    if (set === undefined) return;
    apply(forEach, set, [
      (listener) => {
        try {
          listener(event);
        } catch (error) {
          fail(error);
        }
      },
    ]);
  }

  function messageOf(error) {
    try {
      return typeof error === 'object' && error !== null ? text(error.message) : text(error);
    } catch {
      return 'unreadable error';
    }
  }

  function cut(value, length) {
    return apply(slice, value, [0, length]);
  }

  function fail(error) {
    if (over) return;
    let code = 'script';
    let stack = '';
    try {
      if (typeof error === 'object' && error !== null) {
        const { code: own, stack: frames } = error;
        if (typeof own === 'string' && own !== '') code = cut(own, 64);
        if (typeof frames === 'string') stack = cut(frames, 4000);
      }
    } catch {
      // An unreadable error is reported without the unreadable parts.
    }
    const message = cut(messageOf(error), 2000);
    append(`["threw",${stringify(code)},${stringify(message)},${stringify(stack)}]`);
    over = true;
    settleEnd?.(outputText());
  }

  /** Called once by the compiled source with the author's function, before or after the start. */
  function register(author) {
    if (registered) return;
    registered = true;
    if (limits === undefined) earlyAuthor = author;
    else run(author);
  }

  function plainText(value) {
    try {
      return stringify(value) ?? 'null';
    } catch (error) {
      throw new ScenarioError('script', `the returned value is not JSON: ${messageOf(error)}`);
    }
  }

  function run(author) {
    started = true;
    if (debugged) runUncaught(author);
    else void runCaught(author);
  }

  async function runCaught(author) {
    try {
      await perform(author);
    } catch (error) {
      fail(error);
    }
  }

  /** Catches exceptions only afterwards: a debugger that stops at uncaught exceptions would otherwise never stop. */
  function runUncaught(author) {
    const performed = perform(author);
    const last = apply(lastly, performed, [
      () => {
        void apply(then, performed, [undefined, fail]);
        void apply(then, last, [undefined, () => undefined]);
      },
    ]);
  }

  async function perform(author) {
    if (typeof author !== 'function') throw new ScenarioError('compile', 'the default export is not a function');
    const value = await (main.kind === 'module' ? author(globalThis.call, main.args) : author(main.vars, main.args));
    append(`["done",${plainText(value)},${main.kind === 'block' ? plainText(main.vars) : 'null'}]`);
    if (!over) ended = true;
    over = true;
    settleEnd?.(outputText());
  }

  function start(job) {
    limits = job.limits;
    debugged = job.debug === true && !undebugged;
    main = { __proto__: null, kind: job.kind, args: job.args, vars: job.vars };
    const roots = create(null);
    const log = (...parts) => tellLog('info', parts);
    const printing = { log: (...parts) => print('info', parts) };
    for (const level of ['debug', 'info', 'warn', 'error']) {
      fix(log, level, (...parts) => tellLog(level, parts));
      printing[level] = (...parts) => print(level, parts);
    }
    roots.log = log;
    roots.events = create(null);
    roots.events.on = (type, listener) => listen(type, listener);
    const awaited = (type) => next(type, awaited);
    roots.events.next = awaited;
    roots.secrets = secretsOf(job.secrets);
    for (let index = 0; index < job.commands.length; index++) define(roots, job.commands[index]);
    const names = ownKeys(roots);
    for (let index = 0; index < names.length; index++) fix(globalThis, names[index], freezeAll(roots[names[index]]));
    fix(globalThis, 'ScenarioError', freeze(ScenarioError));
    freeze(ScenarioError.prototype);
    fix(globalThis, 'console', freezeAll(printing));
  }

  /** The `secrets` object. A missing secret throws, so that no `Bearer undefined` is sent; `in` tests for a secret. */
  function secretsOf(texts) {
    const secrets = create(null);
    const names = ownKeys(texts);
    for (let index = 0; index < names.length; index++) secrets[names[index]] = texts[names[index]];
    const get = (target, name) => {
      // JavaScript reads these itself, for JSON.stringify and await.
      if (name in target || typeof name === 'symbol' || name === 'toJSON' || name === 'then') return target[name];
      throw new ScenarioError(
        'no_secret',
        `there is no secret "${name}" in this domain: the operator adds it to secrets.json, or the file that RINGMASTER_SECRETS_FILE names`,
      );
    };
    return new ProxyOf(secrets, { __proto__: null, get });
  }

  function tellLog(level, parts) {
    if (debugged) apply(native[level], native, parts);
    write(level, parts);
  }

  /** `console`: with a debugger only its console shows the text, because its logpoints use this function too. */
  function print(level, parts) {
    if (debugged) apply(native[level], native, parts);
    else write(level, parts);
  }

  /** Defines a command. `path` is its dotted name, split; parents come before their children. */
  function define(roots, path) {
    let parent = roots;
    let name = path[0];
    for (let index = 1; index < path.length; index++) {
      parent[name] ??= create(null);
      parent = parent[name];
      name = `${path[index]}`;
    }
    let full = path[0];
    for (let index = 1; index < path.length; index++) full = `${full}.${path[index]}`;
    const leaf = (...args) => command(full, args, leaf);
    hide(leaf, 'name', full);
    setPrototypeOf(leaf, null);
    parent[name] = leaf;
  }

  function freezeAll(value) {
    const names = ownKeys(value);
    for (let index = 0; index < names.length; index++) {
      const item = value[names[index]];
      if (typeof item === 'function' || (typeof item === 'object' && item !== null)) freezeAll(item);
    }
    return freeze(value);
  }

  function refuse(settle, { code, message }) {
    if (pendingInterrupt?.code === code) pendingInterrupt = undefined;
    if (settle !== undefined) settle.reject(failure(code, message, settle.site));
  }

  function handle(job) {
    if (job.do === 'seed') setSeed(job.seed);
    else if (job.do === 'start') {
      start(job);
      if (registered) run(earlyAuthor);
    } else if (job.do === 'answer') take(job.id)?.resolve(job.value);
    else if (job.do === 'fail') refuse(take(job.id), job);
    else if (job.do === 'event') dispatch(job.event);
    else if (job.do === 'interrupt') interrupt(job);
    else if (job.do === 'undebugged') {
      undebugged = true;
      debugged = false;
    }
  }

  /** The output as text. Its first character is `.` when the script has ended by itself. */
  function outputText() {
    const end = ended ? '.' : ' ';
    return out === '' ? end : `${end}[${out}]`;
  }

  function drain() {
    if (!started) append('["unstarted"]');
    if (waiting === 0 && listening === 0) append('["idle"]');
    const drained = outputText();
    out = '';
    return drained;
  }

  /** A promise of the output at the script's end, without a species that the script could have changed. */
  function promiseOfEnd() {
    const end = new PromiseOf((resolve) => {
      settleEnd = resolve;
    });
    fix(end, 'constructor', undefined);
    return end;
  }

  fix(globalThis, '__scenario__', register);

  return (activation, toEnd, memory) => {
    if (activation === undefined) return drain();
    if (memory !== undefined) logBuffer = memory;
    const end = toEnd ? promiseOfEnd() : undefined;
    const jobs = parse(activation);
    setClock(jobs[0]);
    for (let index = 1; index < jobs.length; index++) handle(jobs[index]);
    return end;
  };
};
