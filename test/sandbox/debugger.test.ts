import { expect } from 'chai';
import { DebuggerNotAllowedError, openSandbox } from '../../runtime/sandbox/index.ts';
import { startScript } from './support.ts';

type Message = { readonly id?: number; readonly method?: string; readonly result?: never; readonly params?: never };

/** A debugger as VS Code is one, reduced to sending requests and awaiting answers and events. */
class Debugger {
  readonly #socket: WebSocket;
  readonly #seen: Message[] = [];
  #look: () => void = () => undefined;
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      this.#seen.push(JSON.parse(String(data)) as Message);
      this.#look();
    });
  }

  static async attach(url: string): Promise<Debugger> {
    const socket = new WebSocket(url);
    const client = new Debugger(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error('refused')));
    });
    return client;
  }

  async request(method: string, params: object = {}): Promise<Record<string, never>> {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return ((await this.#first((message) => message.id === id)) as { result: Record<string, never> }).result;
  }

  async event(method: string): Promise<Record<string, never>> {
    const found = await this.#first((message) => message.method === method);
    return (found as { params: Record<string, never> }).params;
  }

  close(): void {
    this.#socket.close();
  }

  async #first(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.#seen.find(fits);
      if (found) return found;
      // oxlint-disable-next-line eslint/no-await-in-loop
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }
}

const FILE = 'file:///scenarios/queue.ts';
const SOURCE = [
  'interface Args { tries: number }',
  '',
  'export default async function (call: unknown, args: Args): Promise<number> {',
  '  const tries: number = args.tries;',
  '  return tries + 1;',
  '}',
].join('\n');

describe('sandbox: debugger', function () {
  this.timeout(10_000);

  it('stops at a breakpoint in the TypeScript source, without limits of time, and goes on', async () => {
    const sandbox = await openSandbox({ workers: 1, debuggerPort: 0 });
    try {
      const options = { kind: 'module', format: 'ts', file: FILE, source: SOURCE, args: { tries: 4 } } as const;
      const run = startScript(sandbox, {
        ...options,
        debug: true,
        limits: { activationMs: 50, cpuMs: 50, wallMs: 50 },
      });
      const client = await Debugger.attach((await run.debuggerUrl) ?? '');
      await client.request('Runtime.enable');
      await client.request('Debugger.enable');
      await client.request('Debugger.setBreakpointByUrl', { url: FILE, lineNumber: 4 });
      await client.request('Runtime.runIfWaitingForDebugger');
      const paused = (await client.event('Debugger.paused')) as unknown as {
        callFrames: { callFrameId: string; location: { lineNumber: number } }[];
      };
      const [frame] = paused.callFrames;
      expect(frame?.location.lineNumber).to.equal(4);
      // Other runs of the process have their limits, and go on.
      expect((await startScript(sandbox, { source: 'return 7' }).finished).value).to.equal(7);
      await new Promise((resolve) => setTimeout(resolve, 600));
      const evaluated = (await client.request('Debugger.evaluateOnCallFrame', {
        callFrameId: frame?.callFrameId,
        expression: 'tries',
      })) as unknown as { result: { value?: number } };
      expect(evaluated.result.value).to.equal(4);
      await client.request('Debugger.resume');
      expect((await run.finished).value).to.equal(5);
    } finally {
      await sandbox.close();
    }
  });

  it('goes on when the debugger goes away', async () => {
    const sandbox = await openSandbox({ workers: 1, debuggerPort: 0 });
    try {
      const run = startScript(sandbox, { source: 'debugger; await echo(); debugger; return 3', debug: true });
      const client = await Debugger.attach((await run.debuggerUrl) ?? '');
      await client.request('Debugger.enable');
      await client.request('Runtime.runIfWaitingForDebugger');
      await client.event('Debugger.paused');
      client.close();
      expect((await run.finished).value).to.equal(3);
    } finally {
      await sandbox.close();
    }
  });

  it('lets in one debugger, by the address of the run only', async () => {
    const sandbox = await openSandbox({ workers: 1, debuggerPort: 0 });
    try {
      const run = startScript(sandbox, { source: 'return 1', debug: true });
      const url = (await run.debuggerUrl) ?? '';
      const refused = await Promise.allSettled([Debugger.attach(`${url}x`), Debugger.attach(new URL('/', url).href)]);
      expect(refused.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
      const client = await Debugger.attach(url);
      expect((await Promise.allSettled([Debugger.attach(url)]))[0]?.status).to.equal('rejected');
      await client.request('Runtime.runIfWaitingForDebugger');
      await run.finished;
    } finally {
      await sandbox.close();
    }
  });

  it('is not let in unless the operator allows it', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      expect(() => startScript(sandbox, { source: '', debug: true })).to.throw(DebuggerNotAllowedError);
    } finally {
      await sandbox.close();
    }
  });
});
