// What the theme leaves out for readers without a mouse or a screen.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "This page");
  for (const caption of document.querySelectorAll(".sidebar-tree .caption")) {
    caption.setAttribute("aria-level", "2");
  }
  for (const table of document.querySelectorAll(".table-wrapper")) {
    if (table.scrollWidth > table.clientWidth) {
      table.tabIndex = 0;
    }
  }
});
