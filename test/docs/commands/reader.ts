/** Somebody who reads the pages beside a node with demo data, its phones, and a terminal. */
import { Blocks } from './blocks.ts';
import { type Machine, machineOf } from './machine.ts';
import type { RunOptions } from './terminal.ts';
import { Phone } from '../../phones/phone.ts';
import { freeTcpPort } from '../../support/ports.ts';
import { type Connected, type Login, NUMBERS } from '../../support/stage.ts';

export class Reader {
  readonly machine: Machine;
  readonly blocks: Blocks;
  #phones: Phone[] = [];

  private constructor(machine: Machine, blocks: Blocks) {
    this.machine = machine;
    this.blocks = blocks;
  }

  static async come(): Promise<Reader> {
    const env = { RINGMASTER_DEBUG_PORT: String(await freeTcpPort()), RINGMASTER_LOG_LEVEL: 'debug' };
    return new Reader(await machineOf({ demo: true, env }), await Blocks.read());
  }

  /** Runs the block of a page that contains `text`, see Terminal.run. */
  run(page: string, text: string, options?: RunOptions): Promise<string> {
    return this.machine.terminal.run(this.blocks.one(page, text), options);
  }

  /** Runs all blocks of a page. @returns their standard output */
  async runAll(page: string, options?: RunOptions): Promise<string> {
    return this.machine.terminal.run(this.blocks.all(page).join('\n'), options);
  }

  /** Runs commands that are on no page. */
  shell(commands: string): Promise<string> {
    return this.machine.terminal.run(commands);
  }

  /** Registered phones of demo accounts. */
  async phones<const L extends readonly Login[]>(...logins: L): Promise<{ [K in keyof L]: Phone }> {
    const phones: Phone[] = [];
    for (const login of logins) {
      const known = this.#phones.find((phone) => phone.login === login);
      phones.push(known ?? (await this.#register(login)));
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one phone for each login, in order
    return phones as { [K in keyof L]: Phone };
  }

  async #register(login: Login): Promise<Phone> {
    const account = { login, domain: 'demo.local', password: `demo-${login}`, registrar: this.machine.sip };
    const phone = await Phone.start(account);
    this.#phones.push(phone);
    const { status, reason } = await phone.register();
    if (status !== 200) throw new Error(`${login} cannot register: ${status} ${reason}`);
    return phone;
  }

  /** A call between two phones, and the id of its dialog. */
  async talk(from: Phone, to: Phone): Promise<Connected & { readonly dialogid: string }> {
    const before = await this.#dialogids();
    const outgoing = await from.call(NUMBERS[to.login as Login]);
    const incoming = await to.incoming();
    await incoming.answer();
    await outgoing.answered();
    const dialogid = (await this.#dialogids()).find((id) => !before.includes(id)) ?? '';
    return { outgoing, incoming, dialogid };
  }

  /** An answer of the REST service, asked with the terminal's variables. */
  async ask<T>(path: string): Promise<T> {
    return JSON.parse(await this.shell(`curl -s -g "$API"'${path}' -H "$AUTH"`)) as T;
  }

  async #dialogids(): Promise<string[]> {
    return (await this.ask<{ dialogid: string }[]>('/uc/calls')).map(({ dialogid }) => dialogid);
  }

  /** Ends all calls and phones. */
  async hangUp(): Promise<void> {
    const phones = this.#phones;
    this.#phones = [];
    for (const phone of phones) await phone.stop();
  }

  async leave(): Promise<void> {
    for (const phone of this.#phones) await phone.stop({ abruptly: true });
    await this.machine.remove();
  }
}
