import { inspect } from 'node:util';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkModule } from '../../runtime/language/checker/module/check-module.ts';
import { ScenarioError } from '../../runtime/language/errors.ts';
import { effectiveLimits, readLimits } from '../../runtime/language/limits.ts';
import type { HttpRequest } from '../../runtime/runs/ports/http.ts';
import { OPEN_POLICY } from '../../runtime/runs/ports/policy.ts';
import type { Program } from '../../runtime/language/program.ts';
import { SecretBox } from '../../runtime/runs/secret-box.ts';
import { withSecretsNamed } from '../../runtime/language/secret-names.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { openSandbox } from '../../runtime/sandbox/index.ts';
import { problems, program, simulate } from '../support/scenarios.ts';

const HEAD = 'id: t\nstart: a\n';

describe('limits of scenarios', () => {
  it('are read with every mistake', () => {
    const text = `${HEAD}limits: { cpu: 2s, memory: 4, stpes: 10, wall: 10 }
blocks:
  a: { wait: 1s, next: end }
`;
    expect(problems(text)).to.deep.equal([
      '3:20: the limit "memory" must be a whole number from 8 to 512',
      '3:31: there is no limit "stpes"; did you mean "steps"?',
      '3:42: the limit "wall" must be a duration from 100ms to 604800s',
    ]);
    expect(readLimits({ cpu: '2s', steps: 20 })).to.deep.equal({ limits: { cpu: 2000, steps: 20 }, problems: [] });
  });

  it('of a module are an export', async () => {
    const source = 'export const limits = { cpu: "1s", memory: 64 };\nexport default async () => 1;';
    expect((await checkModule(source, { file: 'm.ts', components })).program?.limits).to.deep.equal({
      cpu: 1000,
      memory: 64,
    });
    const wrong = 'export default async () => 1;\nexport const limits = { cpu: 5 };';
    expect((await checkModule(wrong, { file: 'm.ts', components })).problems).to.deep.include.members([
      { file: 'm.ts', line: 2, column: 25, message: 'the limit "cpu" must be a duration from 10ms to 600s' },
    ]);
  });

  it('never exceed those of the domain', () => {
    expect(effectiveLimits({ cpu: 60_000, memory: 8 }, { cpu: 2000, memory: 16, wall: 5000 })).to.include({
      cpu: 2000,
      memory: 8,
      wall: 5000,
      pending: 64,
    });
  });

  it('of time and steps end a run, which still has its finally', async () => {
    const slow = `${HEAD}finally: z
limits: { wall: 5s }
blocks:
  a: { answer: , next: b }
  b: { wait: 1h, next: end }
  z: { report: done, next: end }
`;
    const { outcome, steps } = await simulate(slow);
    expect(outcome).to.deep.include({ status: 'failed', milliseconds: 5000 });
    expect(outcome.error?.code).to.equal('time_limit');
    expect(steps.at(-1)).to.equal('z -> next');
    const busy = `${HEAD}limits: { steps: 20 }
variables: { n: 0 }
blocks:
  a: { set: { n: "\${n + 1}" }, next: b }
  b: { if: n < 500, exits: { then: a, else: end } }
`;
    const stepped = await simulate(busy);
    expect(stepped.outcome.error?.code).to.equal('step_limit');
    expect(stepped.steps).to.have.length(20);
  });

  it('of the domain reach the sandbox', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const clock = new VirtualClock();
      const services = {
        ...simulatedServices({ clock }),
        sandbox,
        policy: { ...OPEN_POLICY, limits: () => ({ activation: 60 }) },
      };
      const looping = program(`${HEAD}blocks:\n  a: { script: "log('began'); for (;;);", next: end }\n`);
      const { outcome, run } = await simulate(looping, {}, { services });
      expect(outcome.error?.message).to.match(/60/);
      expect(run.trace[0]?.usage?.cpuMs).to.be.greaterThan(0);
      expect(run.trace[0]?.log).to.deep.equal(['info: began']);
      const source = "export default async () => { log.warn('began'); for (;;); };";
      const { program: module } = await checkModule(source, { file: 'm.js', components });
      const looped = await simulate(module as Program, {}, { services });
      expect(looped.outcome.error?.code).to.equal('limit');
      expect(looped.outcome.usage?.cpuMs).to.be.greaterThan(0);
      expect(looped.run.trace.map(({ log }) => log)).to.deep.equal([['warn: began']]);
    } finally {
      await sandbox.close();
    }
  });
});

describe('secrets', () => {
  const box = new SecretBox({ crm: 'p"w', other: 'x' });
  const asked: HttpRequest[] = [];
  const http = {
    request: async (request: HttpRequest) => {
      asked.push(request);
      return { status: 200, headers: {}, body: 'ok' };
    },
  };
  const policy = { ...OPEN_POLICY, secrets: () => box };

  beforeEach(() => void asked.splice(0));

  it('reach requests, but no trace, log or result', async () => {
    const scenario = `${HEAD}variables: { kept: "" }
blocks:
  a: { set: { kept: "Bearer \${secrets.crm}" }, next: b }
  b:
    http:
      url: "https://x.example/?k=\${secrets.other}"
      method: POST
      headers: { authorization: "\${kept}" }
      body: { token: "\${secrets.crm}" }
    next: c
  c: { log: "\${kept}", next: end }
`;
    const services = { ...simulatedServices({ clock: new VirtualClock() }), http, policy };
    const { run, outcome } = await simulate(scenario, {}, { services });
    expect(outcome.status).to.equal('completed');
    expect(asked[0]).to.include({ url: 'https://x.example/?k=x', body: '{"token":"p\\"w"}' });
    expect(asked[0]?.headers['authorization']).to.equal('Bearer p"w');
    expect(JSON.stringify([run.trace, outcome])).not.to.include('p\\"w');
  });

  it('are placeholders in scripts', async () => {
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const source = `export default async function (call) {
        const { status } = await http.request({ url: 'https://x.example/', headers: { 'x-key': secrets.crm } });
        return [status, secrets.crm.includes('p"w'), 'none' in secrets];
      }`;
      const { program: checked } = await checkModule(source, { file: 'm.ts', components });
      const services = { ...simulatedServices({ clock: new VirtualClock() }), http, policy, sandbox };
      const { outcome } = await simulate(checked as Program, {}, { services });
      expect(outcome.value).to.deep.equal([200, false, false]);
      expect(asked[0]?.headers['x-key']).to.equal('p"w');
    } finally {
      await sandbox.close();
    }
  });

  it('are removed from answers and errors that repeat them', async () => {
    const scenario = `${HEAD}blocks:
  a: { http: { url: "https://x.example/", headers: { k: "\${secrets.key}" } }, exits: { next: b, refused: end } }
  b: { http: "https://\${secrets.token}.example/", exits: { next: end, error: c } }
  c: { log: "\${error.message}", next: d }
  d: { webhook: { url: "https://x.example/\${secrets.token}", event: e }, next: e }
  e: { wait: 10s, next: end }
`;
    const key = 'S3cret/"x"';
    const repeating = {
      request: async ({ url, method, headers }: HttpRequest) => {
        if (method === 'POST') throw new Error(`getaddrinfo ENOTFOUND ${url}`);
        if (!url.startsWith('https://x.')) throw new ScenarioError('http_forbidden', `no ${new URL(url).hostname}`);
        const body = JSON.stringify({ [key]: headers['k'], list: [`a ${headers['k']}`] });
        return { status: 200, headers: { 'content-type': 'application/json', 'x-k': headers['k'] ?? '' }, body };
      },
    };
    const lines: unknown[] = [];
    const note = (data: object, message: string): void => void lines.push(inspect([message, data], { depth: 9 }));
    const log = { debug: note, info: note, warn: note, error: note };
    const named = { ...OPEN_POLICY, secrets: () => new SecretBox({ key, token: 'S3cret-1' }) };
    const services = { ...simulatedServices({ clock: new VirtualClock() }), http: repeating, policy: named };
    const { run, outcome } = await simulate(scenario, {}, { services, log });
    expect(outcome.status).to.equal('completed');
    expect(lines.filter((line) => String(line).includes('webhook'))).to.have.length(3);
    expect(JSON.stringify([run.trace, outcome, lines])).not.to.match(/s3cret/i);
    const [first] = run.trace;
    expect(JSON.stringify(first?.result)).to.match(/^\{"status":200,.*"list":\["a \{\{secret:key:/);
  });

  it('appear by name in a simulation, without values', async () => {
    const scenario = `${HEAD}blocks:
  a: { http: { url: "https://x.example/?k=\${secrets.crm}", headers: { k: "\${secrets['crm']}" } }, exits: { next: b, refused: end } }
  b: { script: { code: "const { other } = secrets; return other;" }, next: c }
  c: { return: "\${string(b.value)}" }
`;
    const sandbox = await openSandbox({ workers: 1 });
    try {
      const answers = { 'GET https://x.example/?k=${secrets.crm}': 200 };
      const services = simulatedServices({ clock: new VirtualClock(), http: answers, sandbox });
      const { outcome } = await simulate(scenario, {}, { services });
      expect(outcome).to.include({ status: 'completed', value: '${secrets.other}' });
    } finally {
      await sandbox.close();
    }
  });

  it('appear by name in a test made from a run', () => {
    const text = `GET https://x.example/?k=${new SecretBox({ crm: 'y' }).placeholders['crm']}`;
    expect(withSecretsNamed(text)).to.equal('GET https://x.example/?k=${secrets.crm}');
  });

  it('are not sent for a text that resembles a placeholder', () => {
    const forged = Object.values(new SecretBox({ crm: 'y' }).placeholders).join('');
    expect(box.reveal(forged)).to.equal(forged);
    expect(box.reveal('{{secret:crm:}} {{secret:crm}}')).to.equal('{{secret:crm:}} {{secret:crm}}');
  });
});
