type Message = { readonly id?: number; readonly method?: string; readonly result?: never; readonly params?: never };

/** A debugger as VS Code is one, reduced to sending requests and awaiting answers and events. */
export class Debugger {
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

  /** What came so far is not an answer to what comes now. */
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
      await new Promise<void>((resolve) => {
        this.#look = resolve;
      });
    }
  }
}
