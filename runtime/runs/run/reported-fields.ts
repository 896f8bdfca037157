/** Result fields that a scenario reports. */
import { ScenarioError, type Value } from '../../language/index.ts';

/** Limit of the fields of one run in JSON characters: they are kept while it runs, and a scenario may report for hours. */
const MAX_LENGTH = 1_048_576;

/** The reported fields of a scenario, with their latest values. */
export class ReportedFields {
  readonly #fields = new Map<string, { readonly value: Value; readonly length: number }>();
  readonly #maxLength: number;
  #length = 0;

  constructor(maxLength = MAX_LENGTH) {
    this.#maxLength = maxLength;
  }

  /**
   * Sets all fields, or none.
   * @throws ScenarioError code `limit`
   */
  set(fields: Readonly<Record<string, Value>>): void {
    const measured = Object.entries(fields).map(([name, value]) => {
      // A value without JSON, such as undefined, takes no room.
      const length = name.length + (JSON.stringify(value) ?? '').length;
      return [name, { value, length }] as const;
    });
    const more = measured.reduce((sum, [name, { length }]) => sum + length - (this.#fields.get(name)?.length ?? 0), 0);
    if (this.#length + more > this.#maxLength)
      throw new ScenarioError(
        'limit',
        `the fields that a run reports may have ${this.#maxLength} characters of JSON in all`,
      );
    for (const [name, field] of measured) this.#fields.set(name, field);
    this.#length += more;
  }

  get values(): Readonly<Record<string, Value>> {
    return Object.fromEntries([...this.#fields].map(([name, { value }]) => [name, value]));
  }
}
