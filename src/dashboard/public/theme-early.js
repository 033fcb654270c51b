// Before the first paint: the theme that was chosen here, so that the page does not flash in another.
try {
  const theme = localStorage.getItem('writ.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme holds.
}
