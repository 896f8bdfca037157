/** The options of `ringmaster load`. */
import { closeSync, openSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { listeningHosts } from '../config/index.ts';
import {
  type Account,
  type Callee,
  type LoadPlan,
  localAddressFor,
  MAX_CALLS,
  MAX_LIVE,
  MAX_RATE,
  MAX_RING_S,
  MAX_SECONDS,
  MAX_TALK_S,
  MIN_SOUND_TALK_MS,
  type Originate,
  resolveHost,
} from '../load/index.ts';
import { ask, nodeUrl, tokenFor } from './node-access.ts';
import { textIn } from './text-file.ts';

export const LOAD_HELP = `ringmaster load [OPTION...]
  makes calls at a rate against a node, checks their sound, and prints a report. Without options: phones alice and bob of a
  demo node on this machine, 50 calls, 5 a second, 2 s each. It uses their accounts: other phones of the called account ring too

  whom to call
    --sip HOST:PORT          SIP address of the node; default 127.0.0.1:5060, or as RINGMASTER_SIP_PORT says
    --domain D               default demo.local
    --caller LOGIN:PASSWORD  account of a calling phone; may be given several times; LOGIN:@FILE reads the password
    --called LOGIN:PASSWORD  account of a phone that answers; may be given several times
    --to NUMBER              calls this number: with --called one that leads there, else e.g. a scenario that echoes
    --hear any               with --to: any sound is right, not only the caller's own
    --unregistered           callers do not register, so the node asks the password at each call
    --originate              starts the calls by POST /uc/calls, between caller and called phone
    --api URL                the node's REST service; default http://127.0.0.1:8080
    --login LOGIN:PASSWORD   an administrator of the domain; or --token T, RINGMASTER_TOKEN

  how many
    --rate N                 call starts a second; default 5, at most ${MAX_RATE}
    --ramp A-B               from A to B a second, in place of --rate
    --calls N                default 50, with --seconds ${MAX_CALLS}, which is the most
    --seconds N              calls start for at most so long; at most ${MAX_SECONDS}
    --live N                 at most so many calls at once, further ones wait; default 2000, at most ${MAX_LIVE}
    --talk T                 time from answer to BYE, such as 500ms or 10s; default 2s, at most ${MAX_TALK_S}s
    --ring T                 time that the called phone rings; default 0s, at most ${MAX_RING_S}s
    --sound all|none|1-in-N  calls whose sound is checked; default all, above 50 calls a second 1-in-10

  report
    --max-failures N         exit code 0 with up to so many failed calls; default 0
    --json FILE, --html FILE also writes the report there
    --allow-network          the node may be on another machine: mind what the load does to the network

  Ctrl-C ends the calls and prints the report. Exit code 1: too many calls failed; 2: the load could not be made`;

/** What the command is to do. */
export interface LoadOptions {
  readonly plan: LoadPlan;
  readonly maxFailures: number;
  readonly json: string | undefined;
  readonly html: string | undefined;
}

type Values = ReturnType<typeof parse>;

/**
 * Reads the options, looks up the hosts, and logs in where that is needed.
 * @throws TypeError for a wrong option; LoadError for an unknown host, or one that is not on loopback
 */
export async function loadOptions(args: readonly string[]): Promise<LoadOptions> {
  const values = parse(args);
  const allowNetwork = values['allow-network'];
  const rate = rateOf(values);
  const talkMs = duration('--talk', values.talk, MAX_TALK_S);
  const soundEvery = soundOf(values.sound, Math.max(rate.from, rate.to));
  if (soundEvery > 0 && talkMs < MIN_SOUND_TALK_MS)
    throw new TypeError(
      `--talk: "${values.talk}" is too short to hear anything; at least ${MIN_SOUND_TALK_MS}ms, or --sound none`,
    );
  const callers = accountsOf('--caller', values.caller ?? ['alice:demo-alice']);
  const callee = calleeOf(values, callers);
  for (const option of ['json', 'html'] as const)
    if (values[option] !== undefined) writable(`--${option}`, values[option]);
  const sip = await sipOf(values.sip, allowNetwork);
  const plan: LoadPlan = {
    sip,
    localHost: await localAddressFor(sip.host),
    domain: values.domain,
    callers,
    unregistered: values.unregistered,
    callee,
    originate: values.originate ? await originateOf(values, callee, allowNetwork) : undefined,
    rate,
    calls: whole('--calls', values.calls ?? (values.seconds === undefined ? '50' : String(MAX_CALLS)), 1, MAX_CALLS),
    startMs: duration('--seconds', values.seconds ?? String(MAX_SECONDS), MAX_SECONDS),
    live: whole('--live', values.live, 1, MAX_LIVE),
    talkMs,
    ringMs: duration('--ring', values.ring, MAX_RING_S),
    soundEvery,
    allowNetwork,
  };
  const maxFailures = whole('--max-failures', values['max-failures'], 0, MAX_CALLS);
  return { plan, maxFailures, json: values.json, html: values.html };
}

function parse(args: readonly string[]) {
  const { RINGMASTER_SIP_HOST: hosts = '127.0.0.1', RINGMASTER_SIP_PORT: port = '5060' } = process.env;
  const listening = listeningHosts('RINGMASTER_SIP_HOST', hosts);
  const found = listening.find((one) => isIPv4(one)) ?? listening[0] ?? '0.0.0.0';
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[found] ?? found;
  return parseArgs({
    args: [...args],
    options: {
      sip: { type: 'string', default: isIPv4(host) ? `${host}:${port}` : `[${host}]:${port}` },
      domain: { type: 'string', default: 'demo.local' },
      caller: { type: 'string', multiple: true },
      called: { type: 'string', multiple: true },
      to: { type: 'string' },
      hear: { type: 'string' },
      unregistered: { type: 'boolean', default: false },
      originate: { type: 'boolean', default: false },
      api: { type: 'string', default: nodeUrl() },
      login: { type: 'string' },
      token: { type: 'string' },
      rate: { type: 'string' },
      ramp: { type: 'string' },
      calls: { type: 'string' },
      seconds: { type: 'string' },
      live: { type: 'string', default: '2000' },
      talk: { type: 'string', default: '2s' },
      ring: { type: 'string', default: '0s' },
      sound: { type: 'string' },
      'max-failures': { type: 'string', default: '0' },
      json: { type: 'string' },
      html: { type: 'string' },
      'allow-network': { type: 'boolean', default: false },
    },
  }).values;
}

function accountsOf(option: string, given: readonly string[]): Account[] {
  return given.map((text) => {
    const [, login, password] = /^([^:@<>"\s]+):(.+)$/.exec(text) ?? [];
    if (login === undefined || password === undefined)
      throw new TypeError(`${option}: expected LOGIN:PASSWORD, found "${text.replace(/:.*/, ':...')}"`);
    return { login, password: password.startsWith('@') ? passwordIn(option, password.slice(1)) : password };
  });
}

function passwordIn(option: string, file: string): string {
  try {
    return textIn(file);
  } catch (error) {
    throw new TypeError(`${option}: ${(error as Error).message}`, { cause: error });
  }
}

function calleeOf({ to, called, hear, originate }: Values, callers: readonly Account[]): Callee {
  if (to !== undefined && !/^[\w.!~*'()&=+$,-]+$/.test(to)) throw new TypeError(`--to: "${to}" is no number`);
  if (hear !== undefined && hear !== 'any') throw new TypeError(`--hear: expected any, found "${hear}"`);
  if (to !== undefined && called === undefined) return { kind: 'number', number: to, hears: hear ?? 'own' };
  if (hear !== undefined)
    throw new TypeError('--hear: the called phones of a load send their own tone; use it with --to alone');
  const accounts = accountsOf('--called', called ?? ['bob:demo-bob']);
  const both = accounts.find(({ login }) => callers.some((caller) => caller.login === login));
  if (originate && both !== undefined) throw new TypeError(`--called: ${both.login} is a caller too`);
  return { kind: 'phones', accounts, dial: to };
}

function rateOf({ rate, ramp }: Values): LoadPlan['rate'] {
  if (ramp === undefined) {
    const constant = rateIn('--rate', rate ?? '5');
    return { from: constant, to: constant };
  }
  if (rate !== undefined) throw new TypeError('give --rate or --ramp');
  const [from = '', to = ''] = ramp.split('-');
  return { from: rateIn('--ramp', from), to: rateIn('--ramp', to) };
}

function rateIn(option: string, text: string): number {
  const rate = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate > 0 && rate <= MAX_RATE) return rate;
  const form = option === '--ramp' ? 'two numbers such as 10-100' : 'a number';
  throw new TypeError(`${option}: expected ${form} of calls a second, at most ${MAX_RATE}, found "${text}"`);
}

/** @returns milliseconds; a number without unit is seconds */
function duration(option: string, text: string, mostSeconds: number): number {
  const [, number, unit = 's'] = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m|h)?$/.exec(text) ?? [];
  const ms =
    number === undefined ? Number.NaN : Number(number) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit as 's'];
  if (ms <= mostSeconds * 1000) return ms;
  throw new TypeError(`${option}: expected a time such as 500ms or 2s, at most ${mostSeconds}s, found "${text}"`);
}

function whole(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new TypeError(`${option}: expected a number from ${least} to ${most}, found "${text}"`);
}

/** @returns one call in so many; 0: none */
function soundOf(text: string | undefined, rate: number): number {
  if (text === undefined) return rate > 50 ? 10 : 1;
  if (text === 'all') return 1;
  if (text === 'none') return 0;
  const [, every] = /^1-in-(\d{1,5})$/.exec(text) ?? [];
  if (every === undefined || Number(every) < 1)
    throw new TypeError(`--sound: expected all, none, or e.g. 1-in-10, found "${text}"`);
  return Number(every);
}

async function sipOf(text: string, allowNetwork: boolean): Promise<LoadPlan['sip']> {
  const [, host, port = '5060'] = /^(\[[\da-f:.]+\]|[^:\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new TypeError(`--sip: expected HOST:PORT, or [IPV6]:PORT, found "${text}"`);
  return { host: await resolveHost(host, '--sip', allowNetwork), port: Number(port) };
}

async function originateOf(values: Values, callee: Callee, allowNetwork: boolean): Promise<Originate> {
  if (values.unregistered)
    throw new TypeError('--unregistered: the node cannot call unregistered phones, as --originate needs');
  if (callee.kind === 'number') throw new TypeError('--originate: name the phone that answers with --called');
  const url = URL.canParse(values.api) ? new URL(values.api) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`--api: expected a URL such as http://127.0.0.1:8080, found "${values.api}"`);
  await resolveHost(url.hostname, '--api', allowNetwork);
  const base = `${url.origin}/rest/v1`;
  if (values.login === undefined) return { base, token: await tokenFor(base, values.token) };
  const [account] = accountsOf('--login', [values.login]);
  const response = await ask(`${base}/iam/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      domain: values.domain,
      login: account?.login,
      pwd: account?.password,
      session_type: 'token',
    }),
  });
  const body = (await response.json()) as { session_token?: string; error_message?: string };
  if (body.session_token === undefined)
    throw new TypeError(`--login: ${body.error_message ?? `the node answered ${response.status}`}`);
  return { base, token: body.session_token };
}

/** Before the calls, so that no report is lost. */
function writable(option: string, file: string): void {
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new TypeError(`${option}: ${(error as Error).message}`, { cause: error });
  }
}
