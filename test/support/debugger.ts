type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly result?: never;
  readonly error?: { readonly code: number };
  readonly params?: never;
};

/** The method is unknown (JSON-RPC). */
const UNKNOWN_METHOD = -32601;

/** A debugger like that of VS Code, reduced to requests, answers and events. */
export class Debugger {
  readonly #socket: WebSocket;
  readonly #seen: Message[] = [];
  readonly #looking: (() => void)[] = [];
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      this.#seen.push(JSON.parse(String(data)) as Message);
      for (const look of this.#looking.splice(0)) look();
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
    return ((await this.#ask(method, params)) as { result: Record<string, never> }).result;
  }

  /**
   * Does what VS Code's debugger (js-debug) does when it attaches to Node.js: the same requests in the same order, without
   * waiting between them where js-debug does not, and its requests for Node.js alone, which need an answer as well.
   * @param path of the file
   * @param line from 1
   * @returns the answer to the breakpoint request
   */
  async attachAsVsCode(path: string, line: number): Promise<Record<string, never>> {
    const nodeWorker = this.#ask('NodeWorker.enable', { waitForDebuggerOnStart: true });
    await this.request('Runtime.enable');
    await this.request('Debugger.enable');
    const probe = "typeof process === 'undefined' || process.pid === undefined ? 'process not defined' : process.pid";
    const escaped = path.replaceAll(/[/.*+?^${}()|[\]\\]/g, '\\$&');
    const urlRegex = `file:\\/\\/${escaped}($|\\?)|${escaped}($|\\?)`;
    const [unknown, network, found, ...answers] = await Promise.all([
      nodeWorker,
      this.#ask('Network.enable'),
      this.#ask('Debugger.setBreakpointByUrl', { urlRegex, condition: '', lineNumber: line - 1, columnNumber: 0 }),
      this.#ask('Runtime.enable'),
      this.#ask('Profiler.enable'),
      this.#ask('Debugger.enable'),
      this.#ask('Debugger.setPauseOnExceptions', { state: 'none' }),
      this.#ask('Runtime.evaluate', { contextId: 1, returnByValue: true, expression: probe }),
      this.#ask('Debugger.setAsyncCallStackDepth', { maxDepth: 32 }),
      this.#ask('Debugger.setBlackboxPatterns', { patterns: ['^node:'] }),
      this.#ask('Debugger.setInstrumentationBreakpoint', { instrumentation: 'beforeScriptWithSourceMapExecution' }),
    ]);
    for (const { error } of [unknown, network]) if (error?.code !== UNKNOWN_METHOD) throw new Error('not refused');
    for (const { error } of [found, ...answers]) if (error) throw new Error(JSON.stringify(error));
    await this.request('Runtime.runIfWaitingForDebugger');
    return (found as unknown as { result: Record<string, never> }).result;
  }

  async #ask(method: string, params: object = {}): Promise<Message> {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return this.#first((message) => message.id === id);
  }

  /** @param text part of the event's parameters */
  async event(method: string, text = ''): Promise<Record<string, never>> {
    const found = await this.#first((message) => message.method === method && JSON.stringify(message).includes(text));
    return (found as { params: Record<string, never> }).params;
  }

  /** Drops earlier events. */
  forget(): void {
    this.#seen.length = 0;
  }

  close(): void {
    this.#socket.close();
  }

  async #first(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.#seen.find(fits);
      if (found) return found;
      // oxlint-disable-next-line eslint/no-await-in-loop
      await new Promise<void>((resolve) => this.#looking.push(resolve));
    }
  }
}
