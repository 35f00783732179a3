import type { BrowserContextOptions } from 'playwright-core';

/** How the portal looks in a screenshot. */
export interface View {
  width: number;
  theme: 'light' | 'dark';
  language: 'en' | 'ar';
}

/** Width and height of a phone, a tablet, a laptop and a large screen. */
const HEIGHTS: Record<number, number> = { 390: 844, 768: 1024, 1280: 800, 1600: 1000 };

/** Four sizes, two themes, two languages. */
export const ALL_VIEWS: View[] = Object.keys(HEIGHTS).flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en', 'ar'] as const).map((language) => ({ width: Number(width), theme, language })),
  ),
);

export function viewName({ width, theme, language }: View): string {
  return `${width}-${theme}-${language}`;
}

export function contextOptions({ width, theme, language }: View): BrowserContextOptions {
  return {
    colorScheme: theme,
    locale: language === 'ar' ? 'ar-AE' : 'en-GB',
    viewport: { width, height: HEIGHTS[width] ?? Math.round(width * 0.625) },
    ...(width < 500 && { isMobile: true, hasTouch: true }),
  };
}
