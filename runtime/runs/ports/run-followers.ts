/** Those who follow runs from outside, block by block. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Value } from '../../language/index.ts';

export type RunEventType = 'run_begin' | 'block_entered' | 'run_end';

export interface RunFollowers {
  /** Somebody follows the runs of this domain; while nobody does, nothing is made for them. */
  follow(domain: DomainName): boolean;
  tell(domain: DomainName, type: RunEventType, data: Readonly<Record<string, Value>>): void;
}
