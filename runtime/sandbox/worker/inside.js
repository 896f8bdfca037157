/**
 * The script's side of the door (see door.ts). Called with what tame.js makes (see room.ts) in every fresh context, before
 * anything of the author's is evaluated; its value is the one function the host holds. What is here shares the context with the script, so it keeps the built-in
 * functions it needs, stores nothing where a changed prototype could intercept it, and hands the script frozen arrow
 * functions only. A script that fools it fools itself: everything that leaves is checked again outside.
 *
 * In:  JSON list: the time, then {do: 'seed' | 'start' | 'undebugged' | 'answer' | 'fail' | 'event' | 'interrupt', ...}
 * Out: JSON list of ['call', id, name, args], ['cancel', id], ['keys', whether it listens for them], ['heard'] of an
 *      interrupt, ['log', level, text], ['limit', name], ['done', value, vars], ['threw', code, message, stack], ['unstarted'] while the source itself has not run to its end, ['idle'] when
 *      nothing can continue the script
 */
/* oxlint-disable typescript/unbound-method -- the methods taken out are called with `apply` only */
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
  /** The run ended, or has to: nothing more is taken from the script. */
  let over = false;
  let exceeded = false;
  let ended = false;
  let started = false;
  let registered = false;
  /** Settles the promise of an activation that wants to know what was said when the script comes to its end. */
  let conclude;
  /** The author's function, until the start. */
  let early;
  let main = { __proto__: null, kind: '', args: undefined, vars: undefined };
  let lastId = 0;
  let waiting = 0;
  const pending = create(null);
  let listening = 0;
  let keyListeners = 0;
  const listeners = create(null);
  /** What ends a wait for an event, by `events.next`. */
  const waits = new SetOf();
  /** An interrupt that nothing in the script has been told of. */
  let unheard;
  /** A debugger is there: it sees what is logged, and where the script throws what it does not catch. */
  let debugged = false;
  let undebugged = false;
  let logLines = 0;
  let logBytes = 0;
  /** Where the log of this turn is kept for a turn that has no end, see slate.ts; not for every script. No script can reach what it inherits. */
  let slate;
  let slateLength;
  let slateUnits;
  let codeAt;

  function say(message) {
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

  /** Ends a loop that would go on although the run has failed. */
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
    say(`["call",${id},${stringify(name)},${plain}]`);
    throwIfExceeded();
    waiting++;
    // Where the script gave the command: V8 knows it now only, and makes a text of it when it is asked for.
    const site = { __proto__: null };
    captureStackTrace(site, called);
    const promise = new PromiseOf((resolve, reject) => {
      pending[id] = { __proto__: null, resolve, reject, site };
    });
    fix(promise, 'cancel', () => cancel(id, name, promise));
    return promise;
  }

  /** A list remains one whatever `toJSON` the script has given to lists. */
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
    // Who cancels knows of it: no promise is left behind that nobody handles.
    void apply(then, promise, [undefined, () => undefined]);
    say(`["cancel",${id}]`);
    settle.reject(failure('cancelled', `${name} was cancelled`, settle.site));
  }

  /** What a command throws: its stack is that of the call, for there was none of the script's when it failed. */
  function failure(code, message, site) {
    const error = new ScenarioError(code, message);
    try {
      const { stack } = site;
      const head = `ScenarioError: ${error.message}`;
      if (typeof stack === 'string') hide(error, 'stack', `${head}${cutFrom(stack, '\n')}`);
    } catch {
      // The script makes stacks of its own.
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
      say(item);
      if (!over && slate !== undefined) note(item);
    }
    throwIfExceeded();
  }

  function note(item) {
    slateLength ??= new Lengths(slate, 0, 1);
    slateUnits ??= new Units(slate, 4);
    codeAt ??= apply(bind, call, [charCodeAt]);
    const from = shared.load(slateLength, 0);
    const to = from + item.length + 1;
    if (!hasRoom(4 + 2 * to)) return;
    for (let index = 0; index < item.length; index++) slateUnits[from + index] = codeAt(item, index);
    slateUnits[to - 1] = 44;
    // Whoever reads the length finds the text before it.
    shared.store(slateLength, 0, to);
  }

  function hasRoom(bytes) {
    const { byteLength: room, maxByteLength: most } = slate;
    if (bytes <= room) return true;
    if (bytes > most) return false;
    const wanted = 2 * room > bytes ? 2 * room : bytes;
    slate.grow(wanted > most ? most : wanted);
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
    if (key === 'dtmf' && ++keyListeners === 1) say('["keys",true]');
    return () => {
      if (!apply(remove, set, [entry])) return;
      listening--;
      if (key === 'dtmf' && --keyListeners === 0) say('["keys",false]');
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
    // Whoever has not waited for it yet need not hear of it.
    void apply(then, promise, [undefined, () => undefined]);
    if (unheard !== undefined) interrupt(unheard);
    return promise;
  }

  /** Ends the waits for events; without one, the next is ended. */
  function interrupt(reason) {
    let heard = false;
    apply(forEach, waits, [
      (end) => {
        heard = true;
        end(reason);
      },
    ]);
    apply(clear, waits, []);
    unheard = heard ? undefined : reason;
    if (heard) say('["heard"]');
  }

  function tell(event) {
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
      // An error made to be unreadable is reported without what cannot be read.
    }
    const message = cut(messageOf(error), 2000);
    say(`["threw",${stringify(code)},${stringify(message)},${stringify(stack)}]`);
    over = true;
    conclude?.(said());
  }

  /** Called by the compiled source, once, with the author's function: before the start, or after it. */
  function register(author) {
    if (registered) return;
    registered = true;
    if (limits === undefined) early = author;
    else run(author);
  }

  function plainText(value) {
    try {
      return stringify(value) ?? 'null';
    } catch (error) {
      throw new ScenarioError('script', `what is returned is no JSON: ${messageOf(error)}`);
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

  /** A debugger that stops where something is not caught would not stop anywhere if we had it caught by then. */
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
    say(`["done",${plainText(value)},${main.kind === 'block' ? plainText(main.vars) : 'null'}]`);
    if (!over) ended = true;
    over = true;
    conclude?.(said());
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

  /** One that is not there is a mistake: `Bearer undefined` would be sent where nobody sees it. `in` asks. */
  function secretsOf(texts) {
    const secrets = create(null);
    const names = ownKeys(texts);
    for (let index = 0; index < names.length; index++) secrets[names[index]] = texts[names[index]];
    const get = (target, name) => {
      // The language asks for these by itself, of whatever it makes JSON of or waits for.
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

  /** A debugger prints by it too, as with its logpoints, which are none of the run's business. */
  function print(level, parts) {
    if (debugged) apply(native[level], native, parts);
    else write(level, parts);
  }

  /** `path` is a dotted name in pieces; parents come before their children. */
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
    if (unheard?.code === code) unheard = undefined;
    if (settle !== undefined) settle.reject(failure(code, message, settle.site));
  }

  function obey(job) {
    if (job.do === 'seed') setSeed(job.seed);
    else if (job.do === 'start') {
      start(job);
      if (registered) run(early);
    } else if (job.do === 'answer') take(job.id)?.resolve(job.value);
    else if (job.do === 'fail') refuse(take(job.id), job);
    else if (job.do === 'event') tell(job.event);
    else if (job.do === 'interrupt') interrupt(job);
    else if (job.do === 'undebugged') {
      undebugged = true;
      debugged = false;
    }
  }

  /** The first character says whether the run came to an end of its own. */
  function said() {
    const end = ended ? '.' : ' ';
    return out === '' ? end : `${end}[${out}]`;
  }

  function drain() {
    if (!started) say('["unstarted"]');
    if (waiting === 0 && listening === 0) say('["idle"]');
    const drained = said();
    out = '';
    return drained;
  }

  /** For nothing but a primitive value, and with no species that a script could have changed. */
  function untilEnd() {
    const end = new PromiseOf((resolve) => {
      conclude = resolve;
    });
    fix(end, 'constructor', undefined);
    return end;
  }

  fix(globalThis, '__scenario__', register);

  return (activation, toEnd, memory) => {
    if (activation === undefined) return drain();
    if (memory !== undefined) slate = memory;
    const end = toEnd ? untilEnd() : undefined;
    const jobs = parse(activation);
    setClock(jobs[0]);
    for (let index = 1; index < jobs.length; index++) obey(jobs[index]);
    return end;
  };
};
