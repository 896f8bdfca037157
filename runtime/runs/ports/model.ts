/** The data model for scenarios. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';

export type Entity = Readonly<Record<string, Value>>;

export interface EntityQuery {
  /** Filter in prefix notation or as an object (specification, "Filter"). */
  readonly filter?: Value;
  readonly order?: readonly string[];
  /** `["from", "to"]`, ISO 8601 or milliseconds: needed for classes of the storage modes history and transactionlog. */
  readonly interval?: Value;
  readonly limit: number;
  readonly offset: number;
}

/** The dynamic data model for scenarios. Its errors carry a `code`. */
export interface ModelPort {
  read(domain: DomainName, classname: string, id: string): Promise<Entity | undefined>;
  list(domain: DomainName, classname: string, query: EntityQuery): Promise<readonly Entity[]>;
  create(domain: DomainName, classname: string, entity: Entity): Promise<Entity>;
  /** @returns the changed entity; undefined for an unknown id */
  update(domain: DomainName, classname: string, id: string, change: Entity): Promise<Entity | undefined>;
  /** @returns false for an unknown id */
  remove(domain: DomainName, classname: string, id: string): Promise<boolean>;
}
