import { request } from 'node:http';
import { expect } from 'chai';
import { DebuggerNotAllowedError, openSandbox } from '../../runtime/sandbox/index.ts';
import { Debugger } from '../support/debugger.ts';
import { startScript } from './support.ts';

const FILE = 'file:///scenarios/queue.ts';
const SOURCE = `interface Args { tries: number }

export default async function (call: unknown, args: Args): Promise<number> {
  const tries: number = args.tries;
  return tries + 1;
}`;

describe('sandbox: debugger', function () {
  // Sandbox processes are nice: on a busy machine they come last.
  this.timeout(30_000);

  it('stops at a breakpoint in the TypeScript source, without time limits, and continues', async () => {
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

  it('stops at a breakpoint in an imported module', async () => {
    const sandbox = await openSandbox({ workers: 1, debuggerPort: 0 });
    try {
      const file = 'file:///scenarios/hours.ts';
      const text = 'export function hours(day: number): number {\n  return day + 1;\n}';
      const run = startScript(sandbox, {
        kind: 'module',
        format: 'ts',
        file: FILE,
        source: "import { hours } from './hours.ts';\nexport default async () => hours(4);",
        modules: [{ specifier: './hours.ts', source: text, format: 'ts', file }],
        debug: true,
      });
      const client = await Debugger.attach((await run.debuggerUrl) ?? '');
      await client.request('Debugger.enable');
      await client.request('Debugger.setBreakpointByUrl', { url: file, lineNumber: 1 });
      await client.request('Runtime.runIfWaitingForDebugger');
      const paused = (await client.event('Debugger.paused')) as unknown as {
        callFrames: { functionName: string; location: { lineNumber: number } }[];
      };
      const [inside] = paused.callFrames;
      expect([inside?.functionName, inside?.location.lineNumber]).to.deep.equal(['hours', 1]);
      await client.request('Debugger.resume');
      expect((await run.finished).value).to.equal(5);
    } finally {
      await sandbox.close();
    }
  });

  it('continues when the debugger disconnects', async () => {
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

  it('accepts one debugger, at the address of the run only', async () => {
    const sandbox = await openSandbox({ workers: 1, debuggerPort: 0 });
    try {
      const run = startScript(sandbox, { source: 'return 1', debug: true });
      const url = (await run.debuggerUrl) ?? '';
      const refused = await Promise.allSettled([Debugger.attach(`${url}x`), Debugger.attach(new URL('/', url).href)]);
      expect(refused.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
      const client = await Debugger.attach(url);
      // VS Code looks for another run when it is told so, and only then.
      const second = new WebSocket(url);
      const { code } = await new Promise<CloseEvent>((resolve) => second.addEventListener('close', resolve));
      expect(code).to.equal(1013);
      await client.request('Runtime.runIfWaitingForDebugger');
      await run.finished;
    } finally {
      await sandbox.close();
    }
  });

  it('accepts requests without Origin, but none of web pages', async () => {
    const sandbox = await openSandbox({ workers: 1, debuggerPort: 0 });
    try {
      const run = startScript(sandbox, { source: 'return 1', debug: true });
      const url = new URL((await run.debuggerUrl) ?? '');
      const upgrade = (headers: Record<string, string>) =>
        new Promise<number | undefined>((resolve, reject) => {
          const asked = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', ...headers };
          const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
          request({
            host: url.hostname,
            port: url.port,
            path: url.pathname,
            setHost: false,
            headers: { ...asked, ...key },
          })
            .on('upgrade', (answer, socket) => {
              socket.destroy();
              resolve(answer.statusCode);
            })
            .on('response', (answer) => resolve(answer.resume().statusCode))
            .on('error', reject)
            .end();
        });
      expect(await upgrade({ origin: 'https://evil.example' })).to.equal(403);
      expect(await upgrade({ host: 'evil.example' })).to.equal(403);
      expect(await upgrade({})).to.equal(101);
      expect((await run.finished).value).to.equal(1);
    } finally {
      await sandbox.close();
    }
  });

  it('is disabled unless the operator enables it', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      expect(() => startScript(sandbox, { source: '', debug: true })).to.throw(DebuggerNotAllowedError);
    } finally {
      await sandbox.close();
    }
  });
});
