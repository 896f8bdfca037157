/** The operator's rules for scenarios: limits by domain, secrets, and debugging. */
import { readFileSync, statSync } from 'node:fs';
import type { Logger } from 'pino';
import { type DomainName, domainKey } from '../../domain-name/index.ts';
import type { LiveDirectory } from '../../domain/index.ts';
import {
  ArmedRuns,
  type CallPort,
  type Debugging,
  NO_SECRETS,
  type ScenarioPolicy,
  SecretBox,
  type Secrets,
} from '../../runs/index.ts';
import { type LimitsWanted, type Program, readLimits, runsScripts } from '../../language/index.ts';

/** Setting of a domain: upper limits of its scenarios, e.g. `{"cpu": "2s", "memory": 16}`. */
const LIMITS = 'scenario_limits';
/** Milliseconds between checks of the file of secrets for changes. */
const FRESH_MS = 1000;

type SecretFile = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface NodePolicyOptions {
  readonly directory: LiveDirectory;
  /** JSON file of secrets: `{"DOMAIN": {"NAME": "VALUE"}}`; may be missing. */
  readonly secretsFile: string;
  /** Port for debuggers; undefined: debuggers are not allowed. */
  readonly debugPort: number | undefined;
  readonly log: Logger;
}

export class NodePolicy implements ScenarioPolicy {
  readonly #secretsFile: string;
  readonly #log: Logger;
  readonly #directory: LiveDirectory;
  /** By the id of the domain. */
  readonly #limits = new Map<string, LimitsWanted>();
  #stamp = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** By `domainKey`: the file may name a domain before it is created. */
  #boxes = new Map<string, Secrets>();
  /** Undefined when debuggers are not allowed. */
  readonly debugging: Debugging | undefined;

  private constructor({ directory, secretsFile, debugPort, log }: NodePolicyOptions) {
    this.#directory = directory;
    this.debugging = debugPort === undefined ? undefined : { port: debugPort, armed: new ArmedRuns() };
    this.#secretsFile = secretsFile;
    this.#log = log;
  }

  static async open(options: NodePolicyOptions): Promise<NodePolicy> {
    const policy = new NodePolicy(options);
    const { directory } = options;
    const collection = directory.collections.settings;
    const read = async (): Promise<void> => {
      policy.#limits.clear();
      for (const { domain_id: id, key, value } of await collection.list()) {
        if (key === LIMITS) policy.#limits.set(id, readLimits(value).limits);
      }
    };
    collection.onChange(read);
    await read();
    return policy;
  }

  limits(domain: DomainName): LimitsWanted {
    return this.#limits.get(this.#directory.domain(domain)?.id ?? '') ?? {};
  }

  secrets(domain: DomainName): Secrets {
    this.#refresh();
    return this.#boxes.get(domainKey(domain)) ?? NO_SECRETS;
  }

  debugs(program: Program, domain: DomainName, call: CallPort | undefined): boolean {
    if (this.debugging === undefined || !runsScripts(program)) return false;
    return this.debugging.armed.take(domain, program.id, call?.opponent?.number);
  }

  #refresh(): void {
    if (performance.now() - this.#lookedAt < FRESH_MS) return;
    this.#lookedAt = performance.now();
    try {
      const found = statSync(this.#secretsFile, { throwIfNoEntry: false });
      const stamp = found === undefined ? '' : `${found.mtimeMs}/${found.size}`;
      if (stamp === this.#stamp) return;
      this.#stamp = stamp;
      const file = found === undefined ? {} : readSecrets(readFileSync(this.#secretsFile, 'utf8'));
      this.#boxes = new Map(Object.entries(file).map(([domain, values]) => [domainKey(domain), new SecretBox(values)]));
    } catch (error) {
      // The secrets read before stay.
      this.#log.error({ err: error, file: this.#secretsFile }, 'the file of secrets cannot be read');
    }
  }
}

/** @throws TypeError when the text is not JSON of domains, names and values */
function readSecrets(text: string): SecretFile {
  const file = JSON.parse(text) as unknown;
  const fits =
    isRecord(file) &&
    Object.values(file).every(
      (values) =>
        isRecord(values) &&
        Object.entries(values).every(([name, value]) => /^[A-Za-z0-9_]{1,64}$/.test(name) && typeof value === 'string'),
    );
  if (!fits) throw new TypeError('it must be {"DOMAIN": {"NAME": "VALUE"}}');
  return file as SecretFile;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
