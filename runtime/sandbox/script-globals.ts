/**
 * Global names in every script: V8's, as reduced and extended by inside.js. The platform's functions are added by each
 * run (`StartOptions.commands`). A test compares the list with a real isolate.
 */
export const SCRIPT_GLOBALS: ReadonlySet<string> = new Set(
  `
    globalThis undefined NaN Infinity eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent
    encodeURI encodeURIComponent escape unescape Object Function Boolean Symbol Number BigInt String RegExp Date
    Math JSON Intl Array Map Set WeakMap WeakSet Iterator Promise Proxy Reflect Error AggregateError EvalError
    RangeError ReferenceError SuppressedError SyntaxError TypeError URIError DisposableStack AsyncDisposableStack
    ArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
    BigInt64Array BigUint64Array Float16Array Float32Array Float64Array log console events secrets ScenarioError
    __scenario__
  `
    .trim()
    .split(/\s+/),
);
