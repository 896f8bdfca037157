import { ScenarioError } from '../../runtime/language/errors.ts';
import { truncate, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect } from 'chai';
import { ClusterAwayError } from '../../runtime/cluster/errors.ts';
import { unreachable } from '../../runtime/cluster/nodes.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { SmtpMailer } from '../../components/email/smtp.ts';
import { GuardedHttpClient, type HttpClientOptions } from '../../components/http/client.ts';
import { components } from '../../runtime/component-registry/index.ts';
import { createOperations } from '../../runtime/operations/index.ts';
import { findDialog } from '../../runtime/operations/request/target.ts';
import {
  type ErrorFacts,
  SCENARIO_ERROR_CODES,
  SCENARIO_ERRORS,
  type ScenarioErrorCode,
} from '../../runtime/language/error-codes.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import { checkScenario } from '../../runtime/language/checker/check-scenario.ts';
import { isMistake } from '../../runtime/language/problem.ts';
import type { Program } from '../../runtime/language/program.ts';
import { wavOf } from '../../runtime/media/wav-file.ts';
import { modelPort } from '../../runtime/node/adapters/model.ts';
import { ConflictError, InvalidFieldError, type Model, NotFoundError } from '../../runtime/model/index.ts';
import { systemClock } from '../../runtime/runs/clock.ts';
import type { ParkingLot } from '../../runtime/runs/ports/parking.ts';
import type { ModelPort } from '../../runtime/runs/ports/model.ts';
import { MemoryQueues, type Queues } from '../../runtime/runs/ports/queueing.ts';
import type { RunServices } from '../../runtime/runs/ports/services.ts';
import { lostRun } from '../../runtime/runs/run-view.ts';
import { describeError } from '../../runtime/runs/run/run-errors.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { DebuggerNotAllowedError, type Sandbox, SandboxLostError, openSandbox } from '../../runtime/sandbox/index.ts';
import { SpeechError } from '../../runtime/speech/index.ts';
import { type TranscriptNeeds, transcriptPort } from '../../runtime/node/adapters/speech.ts';
import type { CallScript } from '../../runtime/workbench/simulation/call-script.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { simulate as runSimulation } from '../../runtime/workbench/simulation/simulation.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { Command } from '../cli/command.ts';
import { NO_CALLS, NO_CONFERENCES, NO_DIRECTORY } from '../operations/support.ts';
import { silentLog } from '../support/log.ts';
import { openMailServer } from '../support/mail-server.ts';
import { program, simulate } from '../support/scenarios.ts';
import { disposableFolder, temporaryFolder } from '../support/temporary-folder.ts';

describe('the catalogue of error codes', () => {
  let sandbox: Sandbox;
  const folder = temporaryFolder();
  let server: Server;
  let base: string;
  before(async () => {
    sandbox = await openSandbox({ workers: 1 });
    await writeFile(path.join(folder, 'a.wav'), wavOf(new Int16Array(800), 8000));
    await writeFile(path.join(folder, 'deep.yaml'), scenario('deep', 'run: deep\n    next: end'));
    const wants = `parameters: { number: { type: integer } }\n${scenario('wants', 'log: x\n    next: end')}`;
    await writeFile(path.join(folder, 'wants.yaml'), wants);
    server = createServer(({ url }, response) => void (url === '/big' && response.end('x'.repeat(5000))));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await sandbox.close();
  });

  const scenario = (id: string, only: string, head = ''): string =>
    `id: ${id}
start: first
${head}blocks:
  first:
    ${only}
`;

  async function played(checked: Program | undefined, script: CallScript): Promise<string | undefined> {
    if (checked === undefined) throw new Error('the scenario has mistakes');
    const { outcome } = await runSimulation(checked, { script, components, openSandbox: async () => sandbox });
    return typeof outcome.value === 'string' ? outcome.value : outcome.error?.code;
  }

  /** The code with which a scenario of this block fails. */
  function blockFails(text: string, head = '', script: CallScript = { direction: 'connected' }) {
    const file = path.join(folder, 'first.yaml');
    const { program: checked, problems } = checkScenario(scenario('first', text, head), { file, components });
    expect(problems.filter(isMistake)).to.deep.equal([]);
    return played(checked, script);
  }

  /** The code with which the body of a module fails, or that it returns. */
  async function module(body: string, script: CallScript = { direction: 'connected' }, head = '') {
    const source = `${head}export default async function (call, args) {\n${body}\n}\n`;
    const { program: checked } = await checkModule(source, { file: path.join(folder, 'module.ts'), components });
    return played(checked, script);
  }

  /** The code with which a block fails on a node with these services. */
  async function served(text: string, services: Partial<RunServices>) {
    const all = { ...simulatedServices({ clock: new VirtualClock() }), ...services };
    return (await simulate(scenario('first', text), { direction: 'connected' }, { services: all })).outcome.error?.code;
  }

  /** The code with which a block fails in a run that nobody's call has started. */
  async function withoutCall(text: string) {
    const clock = new VirtualClock();
    const services = simulatedServices({ clock });
    const run = startRun(program(scenario('first', text)), { clock, services, log: silentLog });
    return (await clock.run(run.finished)).error?.code;
  }

  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'nothing failed',
      (error: unknown) => describeError(error).code,
    );

  function http(url: string, options: Partial<HttpClientOptions> = {}, timeoutMs = 5000) {
    const client = new GuardedHttpClient({ hosts: ['*'], networks: ['127.0.0.0/8'], ...options });
    const control = new AbortController();
    const { signal } = control;
    const request = { method: 'GET', url, headers: {}, body: undefined, timeoutMs, maxBytes: 1000, signal };
    return codeOf(client.request({ ...request, domain: asDomainName('demo.local') }));
  }

  interface Mailing {
    readonly url?: string;
    readonly to?: string;
    readonly timeout?: string;
    readonly file?: string;
  }

  /** The code with which a mail is not sent. */
  async function mailed({ url, to = 'a@example.com', timeout = '10s', file }: Mailing): Promise<string | undefined> {
    const mails = await openMailServer();
    try {
      const mail = new SmtpMailer({ url: url ?? mails.url, from: 'calls@example.com' });
      const recordings = { ...simulatedServices({ clock: systemClock }).recordings, find: () => file };
      const all = { ...simulatedServices({ clock: systemClock }), mail, recordings };
      const attach = file === undefined ? '' : ', attach: large';
      const text = `email: { to: ${to}, subject: s, timeout: ${timeout}${attach} }\n    next: end`;
      const run = startRun(program(scenario('first', text)), { clock: systemClock, services: all, log: silentLog });
      return (await run.finished).error?.code;
    } finally {
      await mails.close();
    }
  }

  /** A data model in which everything fails. */
  function model(error: Error) {
    const collection = () => {
      throw error;
    };
    return served('model_list: { class: crm/customers }\n    next: end', {
      model: modelPort({ collection } as unknown as Model, () => 'd'),
    });
  }

  function transcribe(error?: SpeechError, found = true) {
    const needs: Partial<Record<keyof TranscriptNeeds, object>> = {
      archive: { findByLink: async () => (found ? { reclink: 'file://a' } : undefined) },
      store: { borrow: async () => ({ path: path.join(folder, 'a.wav'), [Symbol.asyncDispose]: async () => {} }) },
      service: {
        open: async () => {
          throw error ?? new Error('no recording was to be found');
        },
      },
    };
    const { signal } = new AbortController();
    const options = { domain: asDomainName('demo.local'), signal, language: undefined, hints: [] };
    return codeOf(transcriptPort(needs as TranscriptNeeds).transcribe({ reclink: 'file://a' }, options));
  }

  const operations = () =>
    createOperations({
      calls: NO_CALLS,
      conferences: NO_CONFERENCES,
      directory: NO_DIRECTORY,
      overload: () => ({ reason: 'too many calls', retryAfterSeconds: 1 }),
    } as Partial<Parameters<typeof createOperations>[0]> as Parameters<typeof createOperations>[0]);
  const operation = (name: string, parameters: object) =>
    codeOf(operations().start(name, { scope: { domain: asDomainName('demo.local') }, parameters }));

  const TONE = "'tone:%(100,0,440)'";
  const FAILURES: Readonly<Record<ScenarioErrorCode, () => Promise<string | undefined>>> = {
    call_ended: () =>
      module("return await call.collect({ max: 1, timeout: '1h' }).catch(({ code }) => code);", {
        direction: 'connected',
        hangsUpAfter: 1000,
      }),
    call_state: () => module('await call.hangup(); await call.answer();'),
    no_call: () => withoutCall('play: "tone:%(100,0,440)"\n    next: end'),
    no_such_leg: () => module(`await call.play({ file: ${TONE}, leg: String(args.leg) });`),
    leg_in_use: () => module("for (const to of ['102', '103']) await call.call({ to, caller_id: '1', leg: 'agent' });"),
    no_such_prompt: () => module("await call.play('missing' + '.wav');"),
    no_sound: () =>
      served('play: broken\n    next: end', {
        prompts: {
          ...simulatedServices({ clock: new VirtualClock() }).prompts,
          language: () => 'en',
          uploaded: () => async () => {
            throw new ScenarioError('no_sound', 'the prompt broken cannot be decoded');
          },
        },
      }),
    no_such_recording: () => module("await call.play('recording:' + 'missing.wav');"),
    setting: () => module("await call.call({ to: args.nobody, caller_id: '1', leg: 'agent' });"),
    expression: () => blockFails('log: "${1 / none}"\n    next: end', 'variables: { none: 0 }\n'),
    type: () =>
      blockFails('set: { count: "${word}" }\n    next: end', 'variables: { count: 0, word: { type: any } }\n'),
    text_too_long: () =>
      blockFails(
        'send_message: { to: "102", from: "101", text: "${text}" }\n    exits: { delivered: end, refused: end }',
        `variables: { text: "${'€'.repeat(1000)}" }\n`,
      ),
    step_limit: () => module('for (;;) await call.info();'),
    time_limit: () => blockFails('wait: 2h\n    next: end', 'limits: { wall: 1m }\n'),
    limit: () => blockFails('script: { code: "for (;;);", timeout: 100ms }\n    next: end'),
    too_many: () =>
      module("for (let leg = 0; leg < 100; leg++) await call.call({ to: '102', caller_id: '1', leg: `l${leg}` });"),
    too_deep: () => blockFails('run: deep\n    next: end'),
    stopped: () =>
      module(
        "return await sleep('2h').catch(({ code }) => code);",
        undefined,
        "export const limits = { wall: '1m' };\n",
      ),
    no_such_scenario: () => blockFails('run: nobody\n    next: end'),
    argument: () => blockFails('run: wants\n    next: end'),
    no_such_run: () => module("await scenario.await({ run: String(args.run), timeout: '5s' });"),
    dialog_not_found: () =>
      served('hold_melody: { dialogid: x, mode: once }\n    next: end', { dialogs: { find: () => undefined } }),
    not_applicable: () =>
      module("await call.call({ to: '102', caller_id: '1', leg: 'a', headers: { [String('Via')]: 'x' } });"),
    parameter: () => operation('read', { dialogid: 'd', from: 1 }),
    ambiguous: () =>
      codeOf(
        findDialog(
          { ...NO_CALLS, lookup: async () => ['a', 'b'] },
          { domain: asDomainName('demo.local') },
          { from: '101' },
        ),
      ),
    run_lost: async () => {
      const clock = new VirtualClock();
      const services = { ...simulatedServices({ clock }), keeper: { goesOn: () => true } };
      const waiting = startRun(program('id: a\nstart: a\nblocks:\n  a: { wait: 1h, next: end }'), {
        clock,
        log: silentLog,
        services,
      });
      await clock.run(clock.sleep(10_000, new AbortController().signal));
      const run = await waiting.save(5000);
      return run && lostRun({ run, caller: { callid: '' } }, 'its node died').outcome?.error?.code;
    },
    not_found: () => operation('sing', {}),
    overload: () => operation('invite', { from: '101', to: '102' }),
    node_unreachable: () => {
      const away = async () => {
        throw unreachable(new ClusterAwayError());
      };
      return codeOf(findDialog({ ...NO_CALLS, lookup: away }, { domain: asDomainName('demo.local') }, { from: '101' }));
    },
    slot_taken: () => {
      const full: ParkingLot = { park: () => undefined, find: () => undefined, leave: () => undefined };
      return served('park: { slot: "701" }\n    exits: { timeout: end }', { parking: full });
    },
    queue_full: () => {
      const full: Queues = Object.assign(new MemoryQueues(), { enter: () => undefined });
      return served('queue: support\n    exits: { turn: end }', { queues: full });
    },
    http_forbidden: () => http(`${base}/`, { hosts: [] }),
    http_timeout: () => http(`${base}/slow`, {}, 50),
    http_failed: () => http('http://127.0.0.1:1/'),
    http_too_large: () => http(`${base}/big`),
    http_busy: () => http(`${base}/`, { concurrency: 0 }),
    mail_failed: () => mailed({ url: 'smtp://127.0.0.1:1' }),
    mail_refused: () => mailed({ to: 'nobody@example.com' }),
    mail_timeout: () => mailed({ to: 'slow@example.com', timeout: '200ms' }),
    mail_too_large: async () => {
      const file = path.join(folder, 'large.wav');
      await writeFile(file, '');
      await truncate(file, 21 * 1024 * 1024);
      return mailed({ file });
    },
    model_unknown_class: () => model(new NotFoundError('Class', 'crm/customers')),
    model_refused: () => model(new InvalidFieldError('name', 'is wrong')),
    model_conflict: () => model(new ConflictError('name')),
    recording_not_found: () => transcribe(undefined, false),
    speech_busy: () => transcribe(new SpeechError('busy', 'all streams are in use')),
    speech_failed: () => transcribe(new SpeechError('failed', 'no answer')),
    script: () => module('null.x;'),
    compile: () => blockFails('script: "let = ;"\n    next: end'),
    not_plain: () => module('await report({ fields: { count: BigInt(1) } });'),
    no_secret: () => module('await http.request(`https://a.example/${secrets[String(args.name)]}`);'),
    stalled: () => blockFails('script: await new Promise(() => undefined)\n    next: end'),
    cancelled: () => module("const wait = sleep('1h'); wait.cancel(); await wait;"),
    sandbox_lost: async () => describeError(new SandboxLostError('the process died')).code,
    debugger_not_allowed: async () => describeError(new DebuggerNotAllowedError('no')).code,
    unavailable: () => module("await http.request('https://a.example/');"),
    internal: () => served('model_list: { class: a/b }\n    next: end', { model: {} as ModelPort }),
  };

  for (const code of SCENARIO_ERROR_CODES)
    it(`${code} is the code of a failure`, async () => {
      expect(await FAILURES[code]()).to.equal(code);
    });

  it('names components that exist', () => {
    for (const { from } of Object.values<ErrorFacts>(SCENARIO_ERRORS))
      for (const name of typeof from === 'string' ? [] : from)
        expect(components.has(name) || name === 'call operations', name).to.equal(true);
  });
});

describe('ringmaster check', function () {
  this.timeout(60_000);

  it('warns of a misspelt error code, with its place and the right one', async () => {
    await using folder = await disposableFolder();
    const file = path.join(folder.path, 'ask.yaml');
    await writeFile(
      file,
      `id: ask
start: request
blocks:
  request:
    http: https://shop.example.com/
    exits: { next: end, refused: end, error: what }
  what:
    if: error.code == 'http_timout'
    exits: { then: request, else: end }
`,
    );
    const { code, out } = await (await Command.run(['check', file])).ended;
    expect(out).to.include(`${file}:8:23: warning: this is never "http_timout"; did you mean "http_timeout"?`);
    expect(code).to.equal(0);
  });
});
