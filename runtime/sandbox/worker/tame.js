/**
 * What of JavaScript a script must not have as it is: memory past its limit, threads, and whatever depends on more than it is told.
 * Evaluated in every fresh context before anything of the author's, with inside.js, to which it is given.
 */
/* oxlint-disable typescript/unbound-method -- the methods taken out are called with `apply` only */
/* oxlint-disable eslint/no-unused-expressions -- the file is one expression */
(hide, fix) => {
  'use strict';
  const { apply, construct } = Reflect;
  const { defineProperty, freeze, getOwnPropertyDescriptor } = Object;

  /** Milliseconds since the epoch, while the script has its turn. */
  let clock = 0;
  let seed = [0, 0, 0, 1];

  // Memory that V8 does not count, threads that wait, and callbacks that run outside any time limit.
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WebAssembly', 'FinalizationRegistry', 'WeakRef']) {
    delete globalThis[name];
  }
  replaceArrayBuffer();
  replaceDate();
  hide(Math, 'random', random);

  /** Growable buffers take memory past the limit, so the constructor loses its options. */
  function replaceArrayBuffer() {
    const Original = ArrayBuffer;
    const { prototype, isView } = Original;
    delete prototype.resize;
    function Limited(length) {
      if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
      return construct(Original, [length], new.target);
    }
    hide(Limited, 'name', 'ArrayBuffer');
    Limited.prototype = prototype;
    fix(Limited, 'isView', (value) => isView(value));
    defineProperty(Limited, Symbol.species, {
      __proto__: null,
      get() {
        return this;
      },
    });
    hide(prototype, 'constructor', Limited);
    hide(globalThis, 'ArrayBuffer', freeze(Limited));
  }

  function replaceDate() {
    const Original = Date;
    const { prototype } = Original;
    const { toString } = prototype;
    function Clocked(year, month, ...rest) {
      if (new.target === undefined) return apply(toString, new Original(clock), []);
      const { length } = arguments;
      const args = length === 0 ? [clock] : length === 1 ? [year] : [year, month, ...rest];
      return construct(Original, args, new.target);
    }
    hide(Clocked, 'name', 'Date');
    hide(Clocked, 'length', 7);
    Clocked.prototype = prototype;
    hide(Clocked, 'now', () => clock);
    hide(Clocked, 'parse', Original.parse);
    hide(Clocked, 'UTC', Original.UTC);
    hide(prototype, 'constructor', Clocked);
    hide(globalThis, 'Date', Clocked);
    // A format of no date is one of the present.
    const format = Intl.DateTimeFormat.prototype;
    const { get } = getOwnPropertyDescriptor(format, 'format');
    const { formatToParts } = format;
    defineProperty(format, 'format', {
      __proto__: null,
      configurable: true,
      get() {
        const bound = apply(get, this, []);
        return (date) => bound(date === undefined ? clock : date);
      },
    });
    hide(format, 'formatToParts', function (date) {
      return apply(formatToParts, this, [date === undefined ? clock : date]);
    });
  }

  /** sfc32 of PractRand, for 52 bits. */
  function random() {
    return (next32() * 1_048_576 + (next32() >>> 12)) / 4_503_599_627_370_496;
  }

  function next32() {
    const sum = (((seed[0] + seed[1]) | 0) + seed[3]) | 0;
    seed[3] = (seed[3] + 1) | 0;
    seed[0] = seed[1] ^ (seed[1] >>> 9);
    seed[1] = (seed[2] + (seed[2] << 3)) | 0;
    seed[2] = (((seed[2] << 21) | (seed[2] >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  return {
    setClock: (milliseconds) => {
      clock = milliseconds;
    },
    setSeed: (words) => {
      seed = words;
    },
  };
};
