package forecast
