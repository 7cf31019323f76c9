"""What is shown of results: tables, charts, report.html."""
