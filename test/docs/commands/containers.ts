import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { SETTINGS } from '../../../runtime/config/settings.ts';
import { readSizing } from '../../../freeswitch-config/index.ts';
import { copies, type Machine } from './machine.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

/** The words of the last instruction of that name in exec form. */
function instruction(name: string): string[] {
  const found = new RegExp(`^${name}\\b.*?(\\[.*\\])$`, 'gm');
  const [, words = '[]'] = [...dockerfile.matchAll(found)].at(-1) ?? [];
  return JSON.parse(words) as string[];
}

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly user?: string;
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly configs?: readonly unknown[];
}

/**
 * Checks the Dockerfile and the compose file, as far as that goes without Docker.
 * @param machine with a node that runs
 * @param writeEnv runs the block that writes `.env`
 */
export async function containers(machine: Machine, writeEnv: () => Promise<unknown>): Promise<void> {
  checkImage(machine);
  await checkHealth(machine);
  await writeEnv();
  checkCompose(readFileSync(join(machine.folder, 'opt/ringmaster/.env'), 'utf8'));
}

function checkImage(machine: Machine): void {
  for (const [source] of copies()) expect(existsSync(join(ROOT, source)), source).to.equal(true);
  expect(copies().length).to.be.greaterThan(8);
  const [user] = [...dockerfile.matchAll(/^USER (\S+)$/gm)].map(([, name]) => name);
  expect(user).to.equal('ringmaster');
  // Over all files that starts load, by the user whose compiled code Node.js then finds, who has to read it.
  const [, last = ''] = /^COPY runtime runtime$([^]*?)^USER ringmaster$/m.exec(dockerfile) ?? [];
  expect(last)
    .to.match(/runuser --user=ringmaster -- node runtime\/cli\/prepare\.mjs/)
    .and.not.match(/^COPY/m);
  expect(last).to.match(/chmod --recursive a\+rX node_modules\/\.cache$/m);
  const unit = readFileSync(join(machine.folder, 'etc/systemd/system/ringmaster.service'), 'utf8');
  const [, execStart = ''] = /^ExecStart=\/opt\/ringmaster\/node_modules\/node\/bin\/(.*)$/m.exec(unit) ?? [];
  expect([...instruction('ENTRYPOINT'), ...instruction('CMD')].join(' ')).to.equal(execStart);
}

/** The command of HEALTHCHECK, against the node and against nothing. */
async function checkHealth({ base }: Machine): Promise<void> {
  const [, ...args] = instruction('HEALTHCHECK');
  const check = (port: string) =>
    run(process.execPath, args, { env: { RINGMASTER_HTTP_PORT: port } }).then(
      () => 0,
      (error: unknown) => (error as { code: number }).code,
    );
  expect(await check(new URL(base).port)).to.equal(0);
  expect(await check('9')).to.equal(1);
}

function checkCompose(env: string): void {
  const values = Object.fromEntries([...env.matchAll(/^(\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]));
  const text = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');
  const missing: string[] = [];
  const filled = text.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, kind?: string, other?: string) => {
      if (values[name] === undefined && kind !== '-') missing.push(name);
      return values[name] ?? other ?? '';
    },
  );
  expect(missing).to.deep.equal([]);
  // Every secret has to be given.
  for (const [name] of Object.entries(values).filter(([key]) => /SECRET|PASSWORD|ADDRESS/.test(key)))
    expect(text).to.include(`\${${name}:?`);
  const file = parse(filled, { merge: true }) as {
    services: Record<string, Service>;
    configs: { sizing: { content: string } };
  };
  const known = SETTINGS.map(({ name }) => name as string);
  for (const [name, service] of Object.entries(file.services)) {
    for (const setting of Object.keys(service.environment ?? {}))
      if (!setting.startsWith('POSTGRES_')) expect(known, name).to.include(setting);
    // Compose copies them into the container, which Docker refuses for a file system that is read-only.
    if (service.configs !== undefined) expect(service.read_only, name).to.equal(false);
    if (service.restart !== 'no' && service.image !== 'ringmaster')
      expect(service.healthcheck?.test?.[0], name).to.equal('CMD');
  }
  const { node, drachtio, freeswitch, configuration } = file.services;
  expect(node?.environment).to.include({ RINGMASTER_SIP_HOST: values['ADDRESS'] });
  const sizing = readSizing(file.configs.sizing.content);
  expect(sizing).to.deep.include({ calls: Number(values['CALLS']), node: values['ADDRESS'] });
  const [, , target = ''] = configuration?.command ?? [];
  expect(drachtio?.command).to.deep.equal(['-f', `${target}/drachtio.conf.xml`]);
  expect(freeswitch?.command).to.include.members([
    '-conf',
    target,
    '-certs',
    `${target}/certs`,
    '-nc',
    '-np',
    '-nonat',
    '-nf',
  ]);
  // The user of the image, whose files these are.
  const [, uid = ''] = /useradd --uid (\d+)/.exec(dockerfile) ?? [];
  expect([drachtio?.user, freeswitch?.user]).to.deep.equal([`${uid}:${uid}`, `${uid}:${uid}`]);
}
