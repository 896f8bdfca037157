/** The collections of a running node, over REST. */
import { ask } from './node-access.ts';

export type Entity = Readonly<Record<string, unknown>>;

/** The node refused a request; the message is its own. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** The collections of a node, with a session. Methods throw RefusedError, and TypeError when no node answers. */
export class Collections {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor(base: string, token: string) {
    this.#base = base;
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  /** The id of a domain; without a name, that of the session. */
  async domainId(name: string | undefined): Promise<string> {
    const session = await this.#answer<{ domain: string }>('GET', '/iam/sessions/current');
    const wanted = name ?? session.domain;
    const domains = await this.list('/domain/domains', {}, 'name');
    const found = domains.find((domain) => String(domain['name']).toLowerCase() === wanted.toLowerCase());
    if (found === undefined)
      throw new RefusedError(`there is no domain ${wanted}, or it is not below ${session.domain}`);
    return String(found['id']);
  }

  /** @param fields of the listed entities; undefined ones are any */
  list(collection: string, fields: Entity, order: string): Promise<readonly Entity[]> {
    const equal = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [['==', ['property', name], value]],
    );
    const query = new URLSearchParams({ order: JSON.stringify([order]) });
    if (equal.length > 0) query.set('filter', JSON.stringify(['and', ...equal]));
    return this.#answer('GET', `${collection}?${query.toString()}`);
  }

  create(collection: string, entity: Entity): Promise<Entity> {
    return this.#answer('POST', collection, entity);
  }

  async #answer<T>(method: string, path: string, body?: Entity): Promise<T> {
    const response = await ask(`${this.#base}${path}`, {
      method,
      headers: this.#headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T & { error_message?: string };
    if (!response.ok) throw new RefusedError(answer.error_message ?? `the node answered ${response.status}`);
    return answer;
  }
}
