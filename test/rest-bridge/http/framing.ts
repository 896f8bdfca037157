import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { MessageFramer } from '../../../rest-bridge/http/message-framer.ts';
import type { RefusalKind } from '../../../rest-bridge/http/refusal.ts';

export interface Message {
  /** As the handler would see it. */
  readonly method: string;
  readonly target: string;
  /** Bytes of content; undefined when the message is not complete. */
  readonly body: number | undefined;
}

export interface Framing {
  readonly messages: readonly Message[];
  /** What Node's parser is given; a new piece begins where it decided about an upgrade. */
  readonly forwarded: readonly Buffer[];
  readonly refusal: { readonly kind: RefusalKind; readonly reason: string; readonly inBody: boolean } | undefined;
}

/** Runs the framer over a stream that comes in these pieces; upgrades are declined. */
export function frame(pieces: readonly Buffer[]): Framing {
  const messages: { method: string; target: string; body: number | undefined }[] = [];
  const forwarded: Buffer[][] = [[]];
  let refusal: Framing['refusal'];
  let upgrading = false;
  const framer = new MessageFramer({
    head: ({ method, target, rewritten }) => {
      const [routedMethod = method, routedTarget = target] = rewritten?.split(' ') ?? [];
      messages.push({ method: routedMethod, target: routedTarget, body: undefined });
    },
    forward: (bytes) => {
      forwarded.at(-1)?.push(Buffer.from(bytes));
    },
    end: (bodyBytes) => {
      const last = messages.at(-1);
      if (!last || last.body !== undefined) throw new Error('a message ended that did not begin');
      last.body = bodyBytes;
    },
    upgrade: () => {
      upgrading = true;
    },
    refuse: ({ kind, message }, inBody) => {
      refusal = { kind, reason: message, inBody };
    },
  });
  for (const piece of pieces) {
    framer.feed(piece);
    while (upgrading) {
      upgrading = false;
      forwarded.push([]);
      framer.resume();
    }
  }
  return {
    messages,
    forwarded: forwarded.map((parts) => Buffer.concat(parts)).filter(({ length }) => length > 0),
    refusal,
  };
}

/** The messages that Node's own parser finds in a stream that comes in these pieces, and whether it gave up on it. */
export async function parseByNode(
  pieces: readonly Buffer[],
): Promise<{ messages: readonly Message[]; error: string | undefined }> {
  const messages: { method: string; target: string; body: number | undefined }[] = [];
  let error: string | undefined;
  const server = createServer({ shouldUpgradeCallback: () => false }, (request) => {
    const message = { method: request.method ?? '', target: request.url ?? '', body: undefined as number | undefined };
    messages.push(message);
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    request.on('end', () => {
      if (request.complete) message.body = length;
    });
    request.on('error', () => {});
  });
  server.on('clientError', (failure: NodeJS.ErrnoException) => {
    error ??= failure.code ?? failure.message;
  });
  const connection = new Duplex({ allowHalfOpen: true, read() {}, write: (_chunk, _encoding, done) => done() });
  Object.assign(connection, { setTimeout: () => connection });
  server.emit('connection', connection);
  for (const piece of pieces) {
    connection.push(piece);
    // Two turns: the parser runs in the first, the ends of bodies are told in the second.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  connection.destroy();
  return { messages, error };
}
