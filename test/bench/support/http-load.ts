import { connect } from 'node:net';
import { once } from 'node:events';

/** Answered requests per second over this many keep-alive connections, each with one request at a time. */
export async function perSecond(
  port: number,
  request: () => string,
  { connections = 16, seconds = 2 }: { readonly connections?: number; readonly seconds?: number } = {},
): Promise<number> {
  const began = performance.now();
  const end = began + seconds * 1000;
  let count = 0;
  const drive = async (): Promise<void> => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    let answer: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      answer = answer.length === 0 ? chunk : Buffer.concat([answer, chunk]);
      const length = lengthOf(answer);
      if (length === undefined || answer.length < length) return;
      if (answer.toString('latin1', 9, 10) !== '2') {
        socket.destroy(new Error(answer.toString()));
        return;
      }
      answer = Buffer.alloc(0);
      count += 1;
      if (performance.now() < end) socket.write(request());
      else socket.end();
    });
    socket.write(request());
    await once(socket, 'close');
  };
  await Promise.all(Array.from({ length: connections }, drive));
  return count / ((performance.now() - began) / 1000);
}

/** Length of a complete answer in bytes; undefined while its head is incomplete. */
function lengthOf(answer: Buffer): number | undefined {
  const head = answer.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.toString('latin1', 0, head))?.[1];
  return head + 4 + Number(length ?? 0);
}
