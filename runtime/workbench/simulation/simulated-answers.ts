/** Scripted answers of servers and operations. */
import {
  type Clock,
  type HttpPort,
  type HttpRequest,
  type HttpResponse,
  type OperationPort,
  unavailable,
} from '../../runs/index.ts';
import { authorCode, parseDuration, plainText, ScenarioError, type Value } from '../../language/index.ts';

/**
 * Scripted answers by request: one for all requests, or a list, whose last one repeats. `after` is the delay, `error` the
 * code of an error in place of the answer. A request without an answer is an error.
 */
class Answers {
  readonly #answers: Map<string, Value>;
  readonly #clock: Clock;

  constructor(answers: Readonly<Record<string, Value>>, clock: Clock) {
    this.#answers = new Map(Object.entries(answers));
    this.#clock = clock;
  }

  /** @throws ScenarioError */
  async take(asked: string, signal: AbortSignal): Promise<Value> {
    const answer = this.#next(asked);
    if (answer === undefined) throw unavailable(`the simulation has no answer to ${asked}`);
    const { after, error } = (typeof answer === 'object' ? (answer ?? {}) : {}) as Record<string, Value>;
    if (typeof after === 'string') await this.#clock.sleep(parseDuration(after) ?? 0, signal);
    if (typeof error === 'string') throw new ScenarioError(authorCode(error), 'an error from the test file');
    return answer;
  }

  /** True when the next answer is this error. */
  fails(asked: string, code: string): boolean {
    const answer = this.#answers.get(asked);
    const next = (Array.isArray(answer) ? answer[0] : answer) as { readonly error?: unknown } | number | undefined;
    return typeof next === 'object' && next?.error === code;
  }

  #next(asked: string): Value | undefined {
    const answer = this.#answers.get(asked);
    if (!Array.isArray(answer)) return answer;
    const [next, ...rest] = answer as readonly Value[];
    if (rest.length > 0) this.#answers.set(asked, rest);
    return next;
  }
}

/** Fields of the answer to an HTTP request. */
export const HTTP_ANSWER = ['status', 'json', 'body', 'headers', 'after', 'error'];

/** HTTP requests, named `METHOD URL`; an answer is `{status, json, body, headers}`, or a status. */
export class SimulatedHttp implements HttpPort {
  readonly #answers: Answers;
  readonly #note: (what: string) => void;

  constructor(answers: Readonly<Record<string, Value>>, clock: Clock, note: (what: string) => void) {
    this.#answers = new Answers(answers, clock);
    this.#note = note;
  }

  async request({ method, url, signal }: HttpRequest): Promise<HttpResponse> {
    this.#note(`http ${method} ${url}`);
    return toResponse(await this.#answers.take(`${method} ${url}`, signal));
  }

  /** Tests a webhook's URL; webhooks are POST requests. */
  check(url: string): void {
    if (this.#answers.fails(`POST ${url}`, 'http_forbidden'))
      throw new ScenarioError('http_forbidden', 'an error from the test file');
  }
}

function toResponse(answer: Value): HttpResponse {
  if (typeof answer === 'number') return { status: answer, headers: {}, body: '' };
  const { status = 200, json, body, headers } = (answer ?? {}) as Record<string, Value>;
  const type: Record<string, string> = json === undefined ? {} : { 'content-type': 'application/json' };
  return {
    status: Number(status),
    headers: { ...type, ...((headers ?? {}) as Record<string, string>) },
    body: json === undefined ? plainText(body ?? '') : JSON.stringify(json),
  };
}

/** The operation that ends calls. */
const DELETE = 'delete';

/** Call operations by name; an answer has the fields of the operation's result. */
export class SimulatedOperations implements OperationPort {
  readonly #answers: Answers;
  readonly #note: (what: string) => void;
  readonly #end: (dialogid: string) => void;

  /** @param end ends the simulation's call with this id, if it exists */
  constructor(
    answers: Readonly<Record<string, Value>>,
    clock: Clock,
    note: (what: string) => void,
    end: (dialogid: string) => void,
  ) {
    this.#answers = new Answers(answers, clock);
    this.#note = note;
    this.#end = end;
  }

  async call(name: string, _domain: string, parameters: object, signal: AbortSignal): Promise<Value> {
    this.#note(`operation ${name}`);
    const answer = await this.#answers.take(name, signal);
    const { dialogid } = parameters as { readonly dialogid?: unknown };
    if (name === DELETE && typeof dialogid === 'string') this.#end(dialogid);
    const { after: _after, ...fields } = answer as Record<string, Value>;
    return fields;
  }
}
