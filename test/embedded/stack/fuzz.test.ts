import { expect } from 'chai';
import fc from 'fast-check';
import {
  parseMessage,
  parseNameAddr,
  parseUri,
  parseVia,
  SipParseError,
  splitOutside,
  StreamFramer,
  tagOf,
} from '../../../runtime/embedded/stack/index.ts';
import { completeVia } from '../../../runtime/embedded/stack/via.ts';
import { validateRequest, validateResponse } from '../../../runtime/embedded/stack/validate.ts';
import { INVITE, wire } from './messages.ts';

/** Seeded, so that failures are reproducible; limited, to keep CI short. */
const BOUNDS = { seed: 20_261_121, numRuns: 3000, interruptAfterTimeLimit: 2500, markInterruptAsFailure: false };

/** Whether it returns or throws the one permitted error. */
function tame(action: () => unknown): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error;
  }
}

const VALID = wire(INVITE.replace('Content-Length: 0', 'Content-Type: text/plain\nContent-Length: 5') + 'hello');

/** A valid message with bytes changed, cut out or doubled. */
const mutated = fc
  .array(
    fc.record({
      at: fc.nat(VALID.length - 1),
      length: fc.nat(12),
      put: fc.oneof(
        fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
        fc
          .constantFrom('\r\n', '\r\n\r\n', '\r\n ', ':', ';', ',', '"', '<', '>', '\\', '=', '\0', '%', '@', ' ', '[')
          .map((text) => Buffer.from(text)),
      ),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((changes) => {
    let bytes: Buffer = Buffer.from(VALID);
    for (const { at, length, put } of changes)
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + length)]);
    return bytes;
  });

function readAll(bytes: Buffer): void {
  const message = parseMessage(bytes);
  if (message.kind === 'request') validateRequest(message);
  else validateResponse(message);
  completeVia(message.header('via') ?? '', message.topVia, '127.0.0.1', 5060);
  // An accepted message can be written and read again, with the same headers.
  const again = parseMessage(message.toBuffer());
  expect(again.headers.map(({ key, value }) => [key, value]).filter(([key]) => key !== 'content-length')).to.deep.equal(
    message.headers.map(({ key, value }) => [key, value]).filter(([key]) => key !== 'content-length'),
  );
  expect(again.body.equals(message.body)).to.equal(true);
}

describe('SIP parsers under fuzz', function () {
  this.timeout(15_000);

  it('survive mutated messages, and write accepted ones back', () => {
    fc.assert(
      fc.property(mutated, (bytes) => tame(() => readAll(bytes))),
      BOUNDS,
    );
  });

  it('survive any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => tame(() => readAll(Buffer.from(bytes)))),
      BOUNDS,
    );
  });

  it('survive any header text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'<>";,=:@[]()%\\/ \t.?&aZ09é-'.split('')), maxLength: 60 });
    fc.assert(
      fc.property(text, (value) => {
        for (const parse of [parseUri, parseNameAddr, parseVia]) tame(() => parse(value));
        tagOf(value);
        expect(splitOutside(value, ',').every((part) => part === part.trim() && part !== '')).to.equal(true);
      }),
      BOUNDS,
    );
  });

  it('divide streams into the same messages for any division of the bytes', () => {
    const pieces = fc.array(fc.nat(40), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(mutated, { minLength: 1, maxLength: 3 }), pieces, (messages, sizes) => {
        const stream = Buffer.concat(messages);
        const whole = cut([stream]);
        const parts: Buffer[] = [];
        for (let at = 0, i = 0; at < stream.length; i += 1) {
          const size = 1 + (sizes[i % sizes.length] ?? 0);
          parts.push(Buffer.from(stream.subarray(at, at + size)));
          at += size;
        }
        // A stream in pieces may be refused later, but is never read differently.
        const split = cut(parts);
        expect(split.slice(0, whole.length)).to.deep.equal(whole.slice(0, split.length));
      }),
      { ...BOUNDS, numRuns: 1000 },
    );
  });
});

function cut(parts: readonly Buffer[]): string[] {
  const seen: string[] = [];
  const framer = new StreamFramer({
    message: (message) => void seen.push(message.toBuffer().toString('latin1')),
    ping: () => undefined,
  });
  tame(() => {
    for (const part of parts) framer.push(part);
  });
  return seen;
}
