/** Loads a page or a drawer when it is first shown, and keeps a failure of it to itself. */
import { Component, type ComponentType, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../parts/problem.tsx';
import { words } from '../words/shell.ts';

type Loaded<P> = { readonly shown: ComponentType<P> } | { readonly failed: unknown } | undefined;

export interface LazyProps<P> {
  readonly load: () => Promise<{ readonly default: ComponentType<P> }>;
  readonly props: P;
}

export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const [loaded, setLoaded] = useState<Loaded<P>>(undefined);
  useEffect(() => {
    let isWanted = true;
    load().then(
      (module) => isWanted && setLoaded({ shown: module.default }),
      (error: unknown) => isWanted && setLoaded({ failed: error }),
    );
    return () => {
      isWanted = false;
    };
  }, [load]);
  if (loaded === undefined) return <p class="loading">{words('loading')} …</p>;
  if ('failed' in loaded) return <Failed text={words('newVersion')} />;
  const Shown = loaded.shown;
  return (
    <Guard>
      <Shown {...props} />
    </Guard>
  );
}

/** A mistake in a page leaves the rest of the console alive. */
class Guard extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  override state: { readonly error?: unknown } = {};

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    return error === undefined ? this.props.children : <Failed text={problemText(error)} />;
  }
}

function Failed({ text }: { readonly text: string }) {
  return (
    <div class="problem" role="alert">
      <p>{text}</p>
      <button type="button" onClick={() => location.reload()}>
        {words('reload')}
      </button>
    </div>
  );
}
