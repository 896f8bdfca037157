/** A shell in which a test gives the commands of the pages, one block after the other. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const STAND_INS = join(import.meta.dirname, 'stand-ins.bash');

export interface TerminalOptions {
  /** Stands for `/`. */
  readonly machine: string;
  /** Where the first command runs. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Texts of the pages that are others here; in this order. */
  readonly rules: readonly (readonly [from: string | RegExp, to: string])[];
}

export interface RunOptions {
  /** Words in capitals that stand for something, and what they stand for. */
  readonly values?: Readonly<Record<string, string>>;
  /** What is typed. */
  readonly input?: string;
}

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #bash: ChildProcess;
  #out = '';
  #err = '';
  #runs = 0;
  /** Called when something is printed, and at the end of the shell. */
  #look = (): void => undefined;

  /** @param env all of the environment */
  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#bash = spawn('bash', ['--noprofile', '--norc'], { cwd: options.cwd, env: options.env, detached: true });
    this.#bash.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
      this.#look();
    });
    this.#bash.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
      this.#look();
    });
    this.#bash.once('close', () => this.#look());
    this.#bash.stdin?.on('error', () => undefined);
    this.#bash.stdin?.write(`source '${STAND_INS}'\n`);
  }

  /**
   * Runs a block; variables, functions and the present folder stay for the next one.
   * @returns its standard output
   * @throws Error when a command fails, which ends the shell, or a request is refused
   */
  async run(block: string, { values = {}, input = '' }: RunOptions = {}): Promise<string> {
    const { machine, rules } = this.#options;
    let text = block;
    for (const [word, value] of Object.entries(values))
      text = text.replaceAll(/^\w+$/.test(word) ? new RegExp(`(?<![$\\w])${word}(?!\\w|=)`, 'g') : word, value);
    for (const [from, to] of rules) text = text.replaceAll(from, to);
    this.#out = '';
    this.#err = '';
    this.#runs += 1;
    const end = `--- end of block ${this.#runs} ---`;
    await writeFile(join(machine, 'input'), input);
    this.#bash.stdin?.write(`{\n${text}\n} < '${machine}/input'\necho '${end}'; echo '${end}' >&2\n`);
    const ended = (): boolean => this.#out.includes(end) && this.#err.includes(end);
    await new Promise<void>((resolve) => {
      this.#look = () => {
        if (ended() || this.#bash.exitCode !== null) resolve();
      };
      this.#look();
    });
    if (!ended()) throw new Error(`a command failed:\n${text}\n${this.#out}\n${this.#err}`);
    const refused = await readFile(join(machine, 'refused'), 'utf8');
    await writeFile(join(machine, 'refused'), '');
    if (refused !== '') throw new Error(`refused:\n${refused}\n${text}`);
    return this.#out.slice(0, this.#out.indexOf(end));
  }

  /** Starts a block that goes on, in a terminal of its own, and waits until the node is ready. */
  async serve(block: string): Promise<void> {
    const [quoted] = [block.replaceAll("'", String.raw`'\''`)];
    await this.run(`background '${quoted}'\nservice_ready`);
  }

  /** Ends the shell and the node that it started. */
  async close(): Promise<void> {
    const closed = once(this.#bash, 'close');
    if (this.#bash.exitCode === null) {
      this.#bash.stdin?.end();
      await closed;
    }
  }
}
