import { useState } from 'react';

const SHOWN_MS = 2000;

/** Copies a string; `isCopied` for two seconds after it. */
export function useCopy(text: string, onCopied?: () => void): { isCopied: boolean; copy: () => Promise<void> } {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    onCopied?.();
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return { isCopied, copy };
}
