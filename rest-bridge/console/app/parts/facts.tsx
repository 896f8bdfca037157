/** Names and values of one thing. Empty values are left out. */
import type { ComponentChildren } from 'preact';

export type Fact = readonly [name: string, value: ComponentChildren];

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
        .map(([name, value]) => (
          <>
            <dt key={`${name} name`}>{name}</dt>
            <dd key={name}>{value}</dd>
          </>
        ))}
    </dl>
  );
}

/** The fields of an answer as they are. */
export function AnswerFacts({ answer }: { readonly answer: unknown }) {
  if (typeof answer !== 'object' || answer === null) return <pre>{JSON.stringify(answer)}</pre>;
  return (
    <Facts
      facts={Object.entries(answer).map(
        ([name, value]): Fact => [name, typeof value === 'string' ? value : <code>{JSON.stringify(value)}</code>],
      )}
    />
  );
}
