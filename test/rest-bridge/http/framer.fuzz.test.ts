import { expect } from 'chai';
import * as fc from 'fast-check';
import { CUSTOM_METHODS } from '../../../rest-bridge/http/methods.ts';
import { frame, type Message, parseByNode } from './framing.ts';

/** A failing run prints its seed; RINGMASTER_FUZZ_SEED and RINGMASTER_FUZZ_RUNS repeat or extend it. */
const seed = Number(process.env['RINGMASTER_FUZZ_SEED'] ?? 20_261_121);
const runs = Number(process.env['RINGMASTER_FUZZ_RUNS'] ?? 1_500);
const settings = { seed, numRuns: runs, interruptAfterTimeLimit: runs * 10 };

interface Sample {
  readonly text: string;
  readonly message: Message;
}

const target = fc
  .stringMatching(/^(?:\/[a-z0-9%._-]{1,8}){1,3}(?:\?[a-z=&/!]{0,10})?$/)
  .filter((text) => !text.includes('%21'));
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', ...CUSTOM_METHODS);
const content = fc.stringMatching(/^[ -~\r\n]{0,40}$/);
const header = fc.constantFrom(
  'Accept: */*\r\n',
  'X-A:b\r\n',
  'Cookie: a=b; c=d\r\n',
  'X-Empty:\r\n',
  'Content-Type: application/json\r\n',
);

/** A request that is in order, and what a handler would see of it. */
const good = fc
  .record({
    method,
    target,
    content,
    headers: fc.array(header, { maxLength: 3 }),
    framing: fc.constantFrom('none', 'length', 'chunked'),
  })
  .chain(({ content: body, ...rest }) =>
    fc
      .record({ sizes: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }) })
      .map(({ sizes }) => sample({ ...rest, body, sizes })),
  );

function sample(parts: {
  method: string;
  target: string;
  headers: readonly string[];
  framing: string;
  body: string;
  sizes: readonly number[];
}): Sample {
  const custom = CUSTOM_METHODS.has(parts.method);
  const [path = '', ...query] = parts.target.split('?');
  const routed = custom ? [`${path}!${parts.method.toLowerCase()}`, ...query].join('?') : parts.target;
  const head = `${parts.method} ${parts.target} HTTP/1.1\r\nHost: x\r\n${parts.headers.join('')}`;
  const text =
    parts.framing === 'none'
      ? `${head}\r\n`
      : parts.framing === 'length'
        ? `${head}Content-Length: ${parts.body.length}\r\n\r\n${parts.body}`
        : `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(parts.body, parts.sizes)}`;
  const body = parts.framing === 'none' ? 0 : parts.body.length;
  return { text, message: { method: custom ? 'POST' : parts.method, target: routed, body } };
}

function chunked(body: string, sizes: readonly number[]): string {
  const chunks: string[] = [];
  let at = 0;
  for (const size of [...sizes, body.length]) {
    const chunk = body.slice(at, at + size);
    if (chunk !== '') chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    at += size;
  }
  return `${chunks.join('')}0\r\n\r\n`;
}

/** What attackers put where it does harm. */
const poison = fc.constantFrom(
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length : 3\r\n',
  'Content-Length: +3\r\n',
  'Content-Length: 3, 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding:\tchunked\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive, close\r\n',
  'Connection: upgrade\r\nUpgrade: websocket\r\n',
  'Upgrade: h2c\r\nConnection: Upgrade\r\n',
  'Expect: 100-continue\r\n',
  'Host: y\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  '\0',
  ':',
  ';',
  '#',
  '!',
  '\xff',
  '\r\n',
  '0\r\n\r\n',
  ' folded\r\n',
  'HTTP/1.0',
);
const edit = fc.record({
  at: fc.nat(),
  remove: fc.constantFrom(0, 0, 0, 1, 2),
  insert: fc.oneof(poison, fc.constant('')),
  onLine: fc.boolean(),
});

/** A stream of requests, edited in up to four places. */
const hostile = fc
  .tuple(fc.array(good, { minLength: 1, maxLength: 4 }), fc.array(edit, { maxLength: 4 }))
  .map(([samples, edits]) => {
    let text = samples.map((one) => one.text).join('');
    for (const { at, remove, insert, onLine } of edits) {
      const somewhere = at % (text.length + 1);
      const lineStart = text.indexOf('\n', somewhere) + 1;
      const place = onLine && lineStart > 0 ? lineStart : somewhere;
      text = text.slice(0, place) + insert + text.slice(place + remove);
    }
    return text;
  });

const cuts = fc.array(fc.nat(), { maxLength: 8 });

function split(text: string, at: readonly number[]): Buffer[] {
  const places = at.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b);
  return [...places, text.length].map((end, index) => Buffer.from(text.slice(places[index - 1] ?? 0, end), 'latin1'));
}

describe('message framer: properties', () => {
  it('passes on every valid request, for any division of the stream', () => {
    fc.assert(
      fc.property(fc.array(good, { minLength: 1, maxLength: 5 }), cuts, (samples, at) => {
        const { messages, refusal } = frame(split(samples.map(({ text }) => text).join(''), at));
        expect(refusal).to.equal(undefined);
        expect(messages).to.deep.equal(samples.map(({ message }) => message));
      }),
      settings,
    );
  });

  it('decides the same for any division of the stream', () => {
    fc.assert(
      fc.property(hostile, cuts, (text, at) => {
        expect(frame(split(text, at))).to.deep.equal(frame(split(text, [])));
        expect(frame([...Buffer.from(text, 'latin1')].map((byte) => Buffer.of(byte)))).to.deep.equal(
          frame(split(text, [])),
        );
      }),
      settings,
    );
  });

  it('agrees with Node on the borders of every passed message', async function () {
    this.timeout(30_000);
    let seen = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(hostile, cuts, async (text, at) => {
        const { messages, forwarded, refusal } = frame(split(text, at));
        const node = await parseByNode(forwarded);
        expect(node).to.deep.equal({ messages, error: undefined });
        seen += messages.length;
        if (refusal) refused++;
      }),
      settings,
    );
    // The streams are neither all good nor all bad.
    expect(seen).to.be.greaterThan(runs / 2);
    expect(refused).to.be.within(runs / 10, runs);
  });

  it('would notice a framer that overlooks bodies', async function () {
    this.timeout(30_000);
    const careless = (text: string) => text.split('\r\n\r\n').filter(Boolean).length;
    const result = await fc.check(
      fc.asyncProperty(hostile, async (text) => {
        const { messages } = await parseByNode([Buffer.from(text, 'latin1')]);
        return messages.length === careless(text);
      }),
      settings,
    );
    expect(result.failed).to.equal(true);
  });
});
