/**
 * Removes or replaces the parts of JavaScript that give a script memory beyond its limit, threads, or results that
 * depend on more than its input. Evaluated in every fresh context before any code of the author, as the argument of
 * inside.js.
 */
/* oxlint-disable typescript/unbound-method -- the extracted methods are called with `apply` only */
/* oxlint-disable eslint/no-unused-expressions -- the file is one expression */
(hide, fix) => {
  'use strict';
  /** Least bytes that an object takes of the memory that V8 does not count. */
  const LOCALE = 4096;
  const FORMATS = [
    ['Collator', 4096],
    ['DateTimeFormat', 40_960],
    ['DisplayNames', 4096],
    ['DurationFormat', 4096],
    ['ListFormat', 4096],
    ['Locale', LOCALE],
    ['NumberFormat', 14_336],
    ['PluralRules', 6144],
    ['RelativeTimeFormat', 12_288],
    ['Segmenter', 8192],
  ];
  /** The same for a date format that has formatted a range. */
  const DATE_RANGES = 98_304;
  /** The same for the segments of a text and each iterator over them, and for each character. */
  const [SEGMENTS, SEGMENTS_UNIT] = [12_288, 4];

  const { apply, construct, getPrototypeOf } = Reflect;
  const { defineProperty, freeze, getOwnPropertyDescriptor } = Object;

  /** The script's clock during a turn, milliseconds since the epoch. */
  let clock = 0;
  let seed = [0, 0, 0, 1];

  // These use memory that V8 does not count, block threads, or run callbacks outside of any time limit.
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WebAssembly', 'FinalizationRegistry', 'WeakRef']) {
    delete globalThis[name];
  }
  weighFormats();
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
    // Formats use the present time when they get no date.
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

  /** Attaches counted bytes to Intl's objects, whose own memory V8 does not count. */
  function weighFormats() {
    const Bytes = Uint8Array;
    const Excess = RangeError;
    const carried = new WeakMap();
    const { get, set } = WeakMap.prototype;
    const carry = (size) => {
      try {
        return { __proto__: null, size, bytes: new Bytes(size) };
      } catch {
        throw new Excess('not enough memory for another Intl object');
      }
    };
    /** Allocates the bytes first, so that no object is made without room for it. */
    const weighed = (size, make) => {
      const load = carry(size);
      const made = make();
      apply(set, carried, [made, load]);
      return made;
    };
    for (const [name, size] of FORMATS) {
      const Original = Intl[name];
      const Weighed = new Proxy(Original, {
        __proto__: null,
        apply: (target, self, args) => weighed(size, () => apply(target, self, args)),
        construct: (target, args, newTarget) => weighed(size, () => construct(target, args, newTarget)),
      });
      hide(Intl, name, Weighed);
      hide(Original.prototype, 'constructor', Weighed);
    }
    const dates = Intl.DateTimeFormat.prototype;
    for (const name of ['formatRange', 'formatRangeToParts']) {
      const range = dates[name];
      const loaded = {
        [name](from, to) {
          const load = carry(DATE_RANGES);
          const made = apply(range, this, [from, to]);
          apply(set, carried, [this, load]);
          return made;
        },
      };
      hide(dates, name, loaded[name]);
    }
    const locales = Intl.Locale.prototype;
    for (const name of ['maximize', 'minimize']) {
      const change = locales[name];
      const loaded = {
        [name]() {
          return weighed(LOCALE, () => apply(change, this, []));
        },
      };
      hide(locales, name, loaded[name]);
    }
    const texts = Intl.Segmenter.prototype;
    const { segment } = texts;
    const { iterator } = Symbol;
    let areWeighed = false;
    /** Weighs the iterators of segments, whose prototype is reachable only through segments. */
    const weighIterators = (segments) => {
      const iterate = segments[iterator];
      const loaded = {
        [iterator]() {
          return weighed(apply(get, carried, [this]).size, () => apply(iterate, this, []));
        },
      };
      hide(segments, iterator, loaded[iterator]);
      areWeighed = true;
    };
    const loaded = {
      segment(input) {
        const text = `${input}`;
        const made = weighed(SEGMENTS + SEGMENTS_UNIT * text.length, () => apply(segment, this, [text]));
        if (!areWeighed) weighIterators(getPrototypeOf(made));
        return made;
      },
    };
    hide(texts, 'segment', loaded.segment);
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
